"""Decisions by RFC 9309 and by the oddities of real files: (why, file, agent, [(path, allowed), …])."""

from typing import NamedTuple


class Case(NamedTuple):
    why: str
    file: bytes
    agent: str
    paths: list[tuple[str, bool]]


def _all(*rules: str) -> bytes:
    return ("User-agent: *\n" + "\n".join(rules) + "\n").encode()


GROUPS = [
    Case("empty file", b"", "weft", [("/", True), ("/x?y", True)]),
    Case("no group for us, no star", b"User-agent: other\nDisallow: /\n", "weft", [("/", True)]),
    Case("star group", b"User-agent: *\nDisallow: /\n", "weft", [("/", False), ("/a", False), ("/robots.txt", True)]),
    Case(
        "own group, star does not count",
        b"User-agent: *\nDisallow: /\nUser-agent: weft\nDisallow: /a\n",
        "weft",
        [("/", True), ("/a", False), ("/b", True)],
    ),
    Case("case-insensitive token", b"User-agent: WeFt\nDisallow: /a\n", "wEfT", [("/a", False)]),
    Case("exact token, not a prefix of it", b"User-agent: weftbot\nDisallow: /\n", "weft", [("/", True)]),
    Case("exact token, not a longer one", b"User-agent: we\nDisallow: /\n", "weft", [("/", True)]),
    Case("token is not a substring", b"User-agent: my-weft\nDisallow: /\n", "weft", [("/", True)]),
    Case("value cut at first foreign character", b"User-agent: weft/2.0 (x)\nDisallow: /a\n", "weft", [("/a", False)]),
    Case("cut at a space", b"User-agent: weft bot\nDisallow: /a\n", "weft", [("/a", False)]),
    Case("cut at a comma", b"User-agent: weft, other\nDisallow: /a\n", "weft", [("/a", False)]),
    Case("agent given as whole User-Agent", b"User-agent: weft\nDisallow: /a\n", "weft/1.0 (+x)", [("/a", False)]),
    Case("names with digits", b"User-agent: AI2Bot\nDisallow: /\n", "ai2bot", [("/", False)]),
    Case("other digits, other name", b"User-agent: AI3Bot\nDisallow: /\n", "ai2bot", [("/", True)]),
    Case("name that begins with a digit", b"User-agent: 360Spider\nDisallow: /\n", "360spider", [("/", False)]),
    Case("group without a name", b"User-agent:\nDisallow: /\n", "weft", [("/", True)]),
    Case("star with words behind", b"User-agent: * everyone\nDisallow: /a\n", "weft", [("/a", False)]),
    Case("star glued to a word", b"User-agent: *bot\nDisallow: /\n", "weft", [("/", True)]),
    Case(
        "agents share a group",
        b"User-agent: a\nUser-agent: weft\nUser-agent: b\nDisallow: /x\n",
        "weft",
        [("/x", False), ("/y", True)],
    ),
    Case(
        "groups of one agent are merged",
        b"User-agent: weft\nDisallow: /a\nUser-agent: b\nDisallow: /\nUser-agent: weft\nDisallow: /c\n",
        "weft",
        [("/a", False), ("/c", False), ("/b", True)],
    ),
    Case(
        "star groups are merged",
        b"User-agent: *\nDisallow: /a\nUser-agent: x\nAllow: /\nUser-agent: *\nDisallow: /b\n",
        "weft",
        [("/a", False), ("/b", False), ("/c", True)],
    ),
    Case(
        "merged across: the longest of all counts",
        b"User-agent: *\nDisallow: /a\nUser-agent: *\nAllow: /a/b\n",
        "weft",
        [("/a/b", True), ("/a/c", False)],
    ),
    Case("rules before the first group", b"Disallow: /\nUser-agent: *\nDisallow: /a\n", "weft", [("/b", True)]),
    Case("only rules, no group", b"Disallow: /\nAllow: /a\n", "weft", [("/", True), ("/x", True)]),
    Case(
        "other records do not end a run of agents",
        b"User-agent: weft\nCrawl-delay: 5\nSitemap: https://h/s.xml\nUser-agent: b\nDisallow: /x\n",
        "weft",
        [("/x", False)],
    ),
    Case(
        "nor do they split a group",
        b"User-agent: weft\nDisallow: /a\nContent-Signal: ai-train=no\nSitemap: /s\nDisallow: /b\n",
        "weft",
        [("/a", False), ("/b", False)],
    ),
    Case(
        "unknown records do not end a run of agents",
        b"User-agent: weft\nHost: h\nRequest-rate: 1/5\nUser-agent: b\nDisallow: /x\n",
        "weft",
        [("/x", False)],
    ),
    Case("blank lines do not end a group", b"User-agent: weft\n\n\nDisallow: /a\n", "weft", [("/a", False)]),
    Case(
        "blank lines between agents", b"User-agent: weft\n\n# x\nUser-agent: b\nDisallow: /a\n", "weft", [("/a", False)]
    ),
    Case("own group without rules", b"User-agent: *\nDisallow: /\n\nUser-agent: weft\n", "weft", [("/", True)]),
    Case(
        "own group with an empty Disallow",
        b"User-agent: weft\nDisallow:\nUser-agent: *\nDisallow: /\n",
        "weft",
        [("/", True)],
    ),
    Case(
        "RFC 9309 5.1, ExampleBot",
        b"User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n"
        b"User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n"
        b"User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\nUser-Agent: quxbot\n",
        "foobot",
        [("/example/page.html", True), ("/example/allowed.gif", True), ("/", False), ("/publications/", False)],
    ),
    Case(
        "RFC 9309 5.1, the rest",
        b"User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: quxbot\n",
        "quxbot",
        [("/example/", True), ("/a.gif", True)],
    ),
    Case(
        "RFC 9309 5.1, star group",
        b"User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n",
        "anybot",
        [("/a.gif", False), ("/a.gif?x", True), ("/example/x", False), ("/publications/", True)],
    ),
    Case(
        "RFC 9309 5.2, longest match",
        b"User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n",
        "foobot",
        [("/example/page/disallowed.gif", False), ("/example/page/x", True)],
    ),
]

PRECEDENCE = [
    Case("no match is allowed", _all("Disallow: /a"), "weft", [("/", True), ("/b/a", True)]),
    Case("match from the first octet", _all("Disallow: /a"), "weft", [("/ab", False), ("/a/b", False), ("/ba", True)]),
    Case("longest wins, order does not", _all("Allow: /a/b", "Disallow: /a"), "weft", [("/a/b", True), ("/a", False)]),
    Case("longest wins, other order", _all("Disallow: /a", "Allow: /a/b"), "weft", [("/a/bc", True), ("/a/c", False)]),
    Case("longer Disallow", _all("Allow: /a", "Disallow: /a/b"), "weft", [("/a/b", False), ("/a/c", True)]),
    Case("Allow on ties", _all("Disallow: /a", "Allow: /a"), "weft", [("/a", True)]),
    Case("Allow on ties, other order", _all("Allow: /a", "Disallow: /a"), "weft", [("/a", True)]),
    Case("tie between patterns", _all("Disallow: /*b", "Allow: /ab"), "weft", [("/ab", True), ("/xb", False)]),
    Case("tie between patterns, star allows", _all("Disallow: /ab", "Allow: /*b"), "weft", [("/ab", True)]),
    Case("star counts as an octet", _all("Disallow: /a*", "Allow: /a"), "weft", [("/a", False), ("/ab", False)]),
    Case("dollar counts as an octet", _all("Disallow: /a", "Allow: /a$"), "weft", [("/a", True), ("/ab", False)]),
    Case("longer star rule", _all("Allow: /page", "Disallow: /*.htm"), "weft", [("/page.htm", False), ("/page", True)]),
    Case("Allow root only", _all("Disallow: /", "Allow: /$"), "weft", [("/", True), ("/a", False), ("/?a", False)]),
    Case("empty Disallow is no rule", _all("Disallow:"), "weft", [("/", True)]),
    Case("empty Allow is no rule", _all("Disallow: /", "Allow:"), "weft", [("/a", False)]),
    Case("robots.txt always", _all("Disallow: /", "Disallow: /robots.txt"), "weft", [("/robots.txt", True)]),
    Case("but not what is like it", _all("Disallow: /"), "weft", [("/robots.txt2", False), ("/a/robots.txt", False)]),
    Case("case matters in paths", _all("Disallow: /Fish"), "weft", [("/Fish", False), ("/fish", True)]),
    Case("folder", _all("Disallow: /fish/"), "weft", [("/fish/", False), ("/fish", True), ("/fish/a?b", False)]),
    Case("query belongs to the path", _all("Disallow: /a?x"), "weft", [("/a?x=1", False), ("/a?y", True)]),
    Case("fragment does not", _all("Disallow: /a"), "weft", [("/b#/a", True), ("/a#b", False)]),
    Case("doubled slash is another path", _all("Disallow: /a/b"), "weft", [("/a//b", True), ("//a/b", True)]),
]

WILDCARDS = [
    Case("star in the middle", _all("Disallow: /a*z"), "weft", [("/az", False), ("/abz", False), ("/ab", True)]),
    Case("star at the end", _all("Disallow: /fish*"), "weft", [("/fish", False), ("/fishes", False), ("/fi", True)]),
    Case("star at the start", _all("Disallow: *.php"), "weft", [("/a.php", False), ("/a.php5", False), ("/a", True)]),
    Case("only a star", _all("Disallow: *"), "weft", [("/", False), ("/a", False)]),
    Case("runs of stars", _all("Disallow: /a**b***c"), "weft", [("/abc", False), ("/axbxc", False), ("/acb", True)]),
    Case("dollar", _all("Disallow: /*.php$"), "weft", [("/a.php", False), ("/a.php?x", True), ("/a.php/", True)]),
    Case("star before dollar", _all("Disallow: /a*$"), "weft", [("/a", False), ("/abc", False), ("/b", True)]),
    Case("dollar needs the last octets", _all("Disallow: /*a$"), "weft", [("/aba", False), ("/ab", True)]),
    Case("segments do not overlap", _all("Disallow: /*ab*ba$"), "weft", [("/aba", True), ("/abba", False)]),
    Case("prefix and tail do not overlap", _all("Disallow: /aa*aa$"), "weft", [("/aaa", True), ("/aaaa", False)]),
    Case("dollar inside is itself", _all("Disallow: /a$b"), "weft", [("/a$b", False), ("/a", True), ("/a$", True)]),
    Case("two dollars", _all("Disallow: /a$$"), "weft", [("/a$", False), ("/a", True), ("/a$$", True)]),
    Case("only a dollar", _all("Disallow: $"), "weft", [("/", True), ("/a", True)]),
    Case("a star written %2A", _all("Disallow: /a%2Ab"), "weft", [("/a*b", False), ("/axb", True), ("/a%2ab", False)]),
    Case("a dollar written %24", _all("Disallow: /a%24"), "weft", [("/a$", False), ("/a", True), ("/a%24b", False)]),
    Case("a star in the URL is itself", _all("Disallow: /ab"), "weft", [("/*b", True), ("/a*", True)]),
    Case("chain of stars", _all("Disallow: /*a*b*c*d"), "weft", [("/xaxbxcxd", False), ("/abdc", True)]),
    Case("query parameter", _all("Disallow: /*?*sort="), "weft", [("/l?a=1&sort=2", False), ("/sort=", True)]),
    Case("query parameter by mark", _all("Disallow: /*?"), "weft", [("/a?b", False), ("/a", True), ("/?", False)]),
    Case("dot is no wildcard", _all("Disallow: /a.b"), "weft", [("/a.b", False), ("/axb", True)]),
    Case("brackets are no wildcard", _all("Disallow: /[ab]"), "weft", [("/[ab]", False), ("/a", True)]),
    Case("plus is no wildcard", _all("Disallow: /a+"), "weft", [("/a+b", False), ("/aa", True)]),
    Case("backtracking is not needed", _all("Disallow: /*aab$"), "weft", [("/aaaab", False), ("/aaba", True)]),
]

ENCODING = [
    Case("lower-case hex", _all("Disallow: /%e3%83%84"), "weft", [("/%E3%83%84", False), ("/ツ", False)]),
    Case("raw UTF-8 in the rule", _all("Disallow: /ツ"), "weft", [("/%E3%83%84", False), ("/%e3%83%84x", False)]),
    Case("unreserved is decoded", _all("Disallow: /%62%61%7A"), "weft", [("/baz", False), ("/%62az", False)]),
    Case("unreserved in the URL", _all("Disallow: /baz"), "weft", [("/%62%61%7a", False), ("/%42az", True)]),
    Case(
        "RFC's query",
        _all("Disallow: /foo/bar?baz=http://foo.bar"),
        "weft",
        [("/foo/bar?baz=http%3A%2F%2Ffoo.bar", False)],
    ),
    Case("RFC's query, encoded", _all("Disallow: /f?b=http%3a%2f%2ff"), "weft", [("/f?b=http://f", False)]),
    Case("%2F is no slash", _all("Disallow: /a/b"), "weft", [("/a%2Fb", True), ("/a%2fb", True)]),
    Case("%2F is %2f", _all("Disallow: /a%2Fb"), "weft", [("/a%2fb", False), ("/a/b", True)]),
    Case("%3F is no query", _all("Disallow: /a?b"), "weft", [("/a%3Fb", True)]),
    Case("%26 is no ampersand", _all("Disallow: /a?b&c"), "weft", [("/a?b%26c", True), ("/a?b&c", False)]),
    Case("colon and parentheses", _all("Disallow: /a(b):c"), "weft", [("/a%28b%29%3Ac", False), ("/a(b):c", False)]),
    Case("space", _all("Disallow: /a b"), "weft", [("/a%20b", False), ("/a b", False), ("/a+b", True)]),
    Case("lone percent", _all("Disallow: /100%"), "weft", [("/100%", False), ("/100%25", False), ("/100", True)]),
    Case("not UTF-8", b"User-agent: *\nDisallow: /\xe4\n", "weft", [("/%E4", False), ("/%C3%A4", True)]),
    Case("pipe and caret", _all("Disallow: /a|b^c"), "weft", [("/a%7Cb%5Ec", False), ("/a|b^c", False)]),
    Case("tilde", _all("Disallow: /%7Ejoe/"), "weft", [("/~joe/x", False), ("/%7ejoe/", False)]),
    Case("dot segments as requested", _all("Disallow: /p"), "weft", [("/a/../p", False), ("/a/%2e%2e/p", False)]),
    Case("backslash as requested", _all("Disallow: /a/b"), "weft", [("/a\\b", False)]),
    Case("tab and newline as requested", _all("Disallow: /ab"), "weft", [("/a\tb", False), ("/a\nb", False)]),
]

ODDITIES = [
    Case("BOM", b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n", "weft", [("/a", False)]),
    Case("two BOMs", b"\xef\xbb\xbf\xef\xbb\xbfUser-agent: *\nDisallow: /a\n", "weft", [("/a", False)]),
    Case("UTF-16 LE", "User-agent: *\nDisallow: /ä\n".encode("utf-16"), "weft", [("/ä", False), ("/a", True)]),
    Case("UTF-16 BE", b"\xfe\xff" + "User-agent: *\nDisallow: /a\n".encode("utf-16-be"), "weft", [("/a", False)]),
    Case("UTF-16 LE, no mark", "User-agent: *\nDisallow: /a\n".encode("utf-16-le"), "weft", [("/a", False)]),
    Case("UTF-16 BE, no mark", "User-agent: *\nDisallow: /a\n".encode("utf-16-be"), "weft", [("/a", False)]),
    Case("CR only", b"User-agent: *\rDisallow: /a\rDisallow: /b\r", "weft", [("/a", False), ("/b", False)]),
    Case("CR LF", b"User-agent: *\r\nDisallow: /a\r\n", "weft", [("/a", False), ("/a\r", False)]),
    Case("mixed line ends", b"User-agent: *\rDisallow: /a\nDisallow: /b\r\n", "weft", [("/a", False), ("/b", False)]),
    Case("no newline at the end", b"User-agent: *\nDisallow: /a", "weft", [("/a", False)]),
    Case("form feed and VT end no line", b"User-agent: *\nDisallow: /a\x0bAllow: /\n", "weft", [("/a", True)]),
    Case("comment", _all("Disallow: /a # not /b", "# Disallow: /c"), "weft", [("/a", False), ("/c", True)]),
    Case("comment glued on", _all("Disallow: /a#b"), "weft", [("/a", False)]),
    Case("comment behind an agent", b"User-agent: weft # us\nDisallow: /a\n", "weft", [("/a", False)]),
    Case("spaces", b"  User-agent :  *  \n\t Disallow\t:\t/a \t\n", "weft", [("/a", False), ("/b", True)]),
    Case("no spaces", b"User-agent:*\nDisallow:/a\n", "weft", [("/a", False)]),
    Case("upper case", b"USER-AGENT: *\nDISALLOW: /a\nALLOW: /a/b\n", "weft", [("/a", False), ("/a/b", True)]),
    Case("odd case", b"uSeR-aGeNt: *\ndIsAlLoW: /a\n", "weft", [("/a", False)]),
    Case("useragent", b"Useragent: *\nDisallow: /a\n", "weft", [("/a", False)]),
    Case("user agent", b"User agent: *\nDisallow: /a\n", "weft", [("/a", False)]),
    Case("dissallow", _all("Dissallow: /a"), "weft", [("/a", False)]),
    Case("disalow", _all("Disalow: /a"), "weft", [("/a", False)]),
    Case("dis-allow", _all("Dis-allow: /a"), "weft", [("/a", False)]),
    Case("no colon", b"User-agent *\nDisallow /a\n", "weft", [("/a", False), ("/b", True)]),
    Case("no colon, several words is prose", _all("Disallow /a and more"), "weft", [("/a", True)]),
    Case("disallowed is no Disallow", _all("Disallowed: /a"), "weft", [("/a", True)]),
    Case("rule without slash matches nothing", _all("Disallow: a"), "weft", [("/a", True)]),
    Case("whole URL", _all("Disallow: https://h.example/a"), "weft", [("/a", False), ("/b", True)]),
    Case("whole URL without path", _all("Disallow: http://h.example"), "weft", [("/a", False)]),
    Case("HTML", b"<!doctype html>\n<html><body>Disallow: / here</body></html>\n", "weft", [("/", True)]),
    Case("HTML around rules", b"<pre>\nUser-agent: *\nDisallow: /a\n</pre>", "weft", [("/a", False)]),
    Case("JSON", b'{"error": "not found", "Disallow": "/"}', "weft", [("/", True)]),
    Case("NULs between lines", b"User-agent: *\n\0\0\nDisallow: /a\n\0", "weft", [("/a", False)]),
    Case("binary", bytes(range(256)) * 8, "weft", [("/", True)]),
    Case("junk line within a group", _all("what is this", "Disallow: /a"), "weft", [("/a", False)]),
    Case("Noindex is no rule", _all("Noindex: /a"), "weft", [("/a", True)]),
    Case(
        "managed block before the site's own",
        b"User-agent: *\nContent-Signal: search=yes,ai-train=no\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n\n"
        b"User-agent: *\nDisallow: /private/\n",
        "weft",
        [("/private/x", False), ("/", True)],
    ),
    Case("cut last line is dropped", _all() + b"#" * 524_260 + b"\nDisallow: /abc\n", "weft", [("/abc", True)]),
    Case("within 500 KiB all counts", _all() + b"#" * 511_900 + b"\nDisallow: /abc\n", "weft", [("/abc", False)]),
    Case("beyond the limit nothing counts", _all() + b"#\n" * 300_000 + b"Disallow: /\n", "weft", [("/", True)]),
]

CASES = GROUPS + PRECEDENCE + WILDCARDS + ENCODING + ODDITIES
