"""What pages call a charset, and what Python calls the one that they mean.

In: a label out of a header, a page or a detector. Out: the name of a codec, empty if it is none. Called by `sniff`.
"""

import codecs

# Labels of the WHATWG Encoding Standard (section 4.2) that Python does not know, by Python's name.
_LABELS = {
    label: name
    for name, labels in {
        "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
        "utf-16": "unicodefffe csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff",
        "iso8859-2": "iso88592",
        "iso8859-3": "iso88593",
        "iso8859-4": "iso88594",
        "iso8859-5": "iso88595",
        "iso8859-6": "csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i iso88596",
        "iso8859-7": "iso88597 sun_eu_greek",
        "iso8859-8": "csiso88598e iso-8859-8-e iso88598 visual csiso88598i iso-8859-8-i logical",
        "iso8859-10": "iso885910",
        "iso8859-13": "iso885913",
        "iso8859-14": "iso885914",
        "iso8859-15": "csisolatin9 iso885915",
        "koi8-r": "koi koi8",
        "koi8-u": "koi8-ru",
        "mac-roman": "csmacintosh mac x-mac-roman",
        "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
        "cp874": "dos-874 iso885911 windows-874",
        "cp1250": "x-cp1250",
        "cp1251": "x-cp1251",
        "cp1252": "iso88591 x-cp1252 x-user-defined",
        "cp1253": "x-cp1253",
        "cp1254": "iso88599 x-cp1254",
        "cp1255": "x-cp1255",
        "cp1256": "x-cp1256",
        "cp1257": "x-cp1257",
        "cp1258": "x-cp1258",
        "gb18030": "csgb2312 gb_2312 gb_2312-80 x-gbk",
        "big5": "cn-big5 x-x-big5",
        "euc_jp": "cseucpkdfmtjapanese x-euc-jp",
        "cp932": "windows-31j x-sjis",
        "cp949": "cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601 windows-949",
    }.items()
    for label in labels.split()
}
# What pages call a charset is often a subset of what they use. Keyed by Python's names, so that no alias is missed.
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859_1": "cp1252",
    "iso8859_9": "cp1254",
    "iso8859_11": "cp874",
    "tis_620": "cp874",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "utf_8_sig": "utf-8",
    # Bytes in which one of these could be read are no UTF-16 if neither a mark nor zeros show that they are.
    **dict.fromkeys(("utf_16", "utf_16_le", "utf_16_be", "utf_32", "utf_32_le", "utf_32_be"), "utf-8"),
}
# Codecs that are not charsets of text; UTF-7 and others in ASCII, which no browser accepts.
_NOT_CHARSETS = frozenset(
    [
        "base64",
        "bz2",
        "hex",
        "hz",
        "idna",
        "iso2022_kr",
        "mbcs",
        "oem",
        "punycode",
        "quopri",
        "raw_unicode_escape",
        "rot13",
        "rot_13",
        "undefined",
        "unicode_escape",
        "utf_7",
        "uu",
        "zlib",
    ]
)
_LONGEST = 40  # letters of a label


def known(label: str) -> str:
    """Python's name of the charset that a label means; empty if it is none."""
    label = label.strip().strip("\"'").lower()
    if not label or len(label) > _LONGEST or "\x00" in label:
        return ""
    try:
        name = codecs.lookup(_LABELS.get(label, label)).name
    except (LookupError, ValueError):
        return ""
    name = name.replace("-", "_") if name != "utf-8" else name
    return "" if name in _NOT_CHARSETS or name.endswith("_codec") else _SUPERSETS.get(name, name)
