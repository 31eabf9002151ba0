"""ISO 639-3 codes of the languages that the detector's model (lid.176) knows, by the labels it uses."""

_PAIRS = """
af:afr als:gsw am:amh an:arg ar:arb arz:arz as:asm ast:ast av:ava az:aze azb:azb ba:bak bar:bar bcl:bcl be:bel bg:bul
bh:bih bn:ben bo:bod bpy:bpy br:bre bs:bos bxr:bxr ca:cat cbk:cbk ce:che ceb:ceb ckb:ckb co:cos cs:ces cv:chv cy:cym
da:dan de:deu diq:diq dsb:dsb dty:dty dv:div el:ell eml:egl en:eng eo:epo es:spa et:est eu:eus fa:fas fi:fin fr:fra
frr:frr fy:fry ga:gle gd:gla gl:glg gn:grn gom:gom gu:guj gv:glv he:heb hi:hin hif:hif hr:hrv hsb:hsb ht:hat hu:hun
hy:hye ia:ina id:ind ie:ile ilo:ilo io:ido is:isl it:ita ja:jpn jbo:jbo jv:jav ka:kat kk:kaz km:khm kn:kan ko:kor
krc:krc ku:kmr kv:kpv kw:cor ky:kir la:lat lb:ltz lez:lez li:lim lmo:lmo lo:lao lrc:lrc lt:lit lv:lvs mai:mai mg:mlg
mhr:mhr min:min mk:mkd ml:mal mn:khk mr:mar mrj:mrj ms:zsm mt:mlt mwl:mwl my:mya myv:myv mzn:mzn nah:nah nap:nap
nds:nds ne:npi new:new nl:nld nn:nno no:nob oc:oci or:ory os:oss pa:pan pam:pam pfl:pfl pl:pol pms:pms pnb:pnb ps:pus
pt:por qu:quy rm:roh ro:ron ru:rus rue:rue sa:san sah:sah sc:srd scn:scn sco:sco sd:snd sh:hbs si:sin sk:slk sl:slv
so:som sq:sqi sr:srp su:sun sv:swe sw:swh ta:tam te:tel tg:tgk th:tha tk:tuk tl:tgl tr:tur tt:tat tyv:tyv ug:uig
uk:ukr ur:urd uz:uzn vec:vec vep:vep vi:vie vls:vls vo:vol wa:wln war:war wuu:wuu xal:xal xmf:xmf yi:ydd yo:yor
yue:yue zh:cmn
"""
CODES: dict[str, str] = {pair.partition(":")[0]: pair.partition(":")[2] for pair in _PAIRS.split()}
