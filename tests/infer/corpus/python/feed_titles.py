"""Titles and dates of a feed that was downloaded before.

The feed comes from https://example.com/releases.xml (see the cron job); this script only reads the copy.
"""
import xml.etree.ElementTree as ET
from email.utils import parsedate_to_datetime

FEED_URL = "https://example.com/releases.xml"
FEED_COPY = "data/feed.xml"

tree = ET.parse(FEED_COPY)
print(f"# {tree.findtext('channel/title')} ({FEED_URL})")
for item in tree.iterfind("channel/item"):
    published = parsedate_to_datetime(item.findtext("pubDate", ""))
    print(f"{published:%Y-%m-%d}  {item.findtext('title')}  <{item.findtext('link')}>")
