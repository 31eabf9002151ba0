"""Fetch: a lease comes in; one polite, guarded request goes out; an outcome and its captures come back.

May happen here: HTTP, DNS, robots.txt, reading sitemaps. May not: deciding what to fetch or when (frontier), storing.
"""
