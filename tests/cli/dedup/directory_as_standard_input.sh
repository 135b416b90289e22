mkdir crawl
bloomery dedup <crawl
