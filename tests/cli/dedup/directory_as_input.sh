mkdir crawl
echo a >there
bloomery dedup crawl there
