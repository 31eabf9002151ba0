"""Names of <meta> elements by what they tell, the surest first. Read by `weft.parse.metadata`; in lower case."""

TITLES = ("og:title", "twitter:title", "dc.title", "dcterms.title")
DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description", "dcterms.description")
SITES = ("og:site_name", "application-name", "apple-mobile-web-app-title", "dc.publisher")
AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "parsely-author", "sailthru.author", "byl")
LANGUAGES = ("content-language", "og:locale")
PUBLISHED = ("article:published_time", "og:published_time", "datepublished")
DATED = (  # of the page, of the day it is shown, of what it is about
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.date",
    "pubdate",
    "publishdate",
    "publish-date",
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
