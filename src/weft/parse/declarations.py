"""Names of <meta> elements by what they tell, the surest first. Read by `weft.parse.metadata`; in lower case."""

TITLES = ("og:title", "twitter:title", "citation_title", "dc.title", "dcterms.title")
DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
SITES = ("og:site_name", "application-name", "apple-mobile-web-app-title", "dc.publisher")
CITED_AUTHOR = "citation_author"  # one for each of them
AUTHORS = (
    "author",
    "article:author",
    "og:article:author",
    CITED_AUTHOR,
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "cxenseparse:author",
    "byl",
)
LANGUAGES = ("content-language", "og:locale")
PUBLISHED = (
    "article:published_time",
    "og:published_time",
    "og:article:published_time",
    "news:published_time",
    "datepublished",
)
DATED = (  # of the page, of the day it is shown, of what it is about
    "citation_publication_date",
    "citation_online_date",
    "citation_date",
    "date",
    "dc.date",
    "dc.date.issued",
    "dc.date.created",
    "dcterms.created",
    "dcterms.date",
    "pubdate",
    "publishdate",
    "publish-date",
    "published_date",
    "published-date",
    "cxenseparse:recs:publishtime",
    "parsely-pub-date",
    "sailthru.date",
    "weibo: article:create_at",
)
MODIFIED = (
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "lastmod",
    "last-modified",
    "dcterms.modified",
)
KNOWN = frozenset((*TITLES, *DESCRIPTIONS, *SITES, *AUTHORS, *PUBLISHED, *DATED, *MODIFIED))
OPEN_GRAPH = ("og:", "article:", "product:", "book:", "profile:", "video:", "music:")
