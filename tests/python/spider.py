# SPDX-License-Identifier: MIT
"""Follows every link of the site and writes each address it fetched to a file, at once."""
import scrapy


class Walker(scrapy.Spider):
    name = "walker"
    custom_settings = {"LOG_LEVEL": "INFO", "TELNETCONSOLE_ENABLED": False, "CONCURRENT_REQUESTS": 16,
                       "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7"}

    def __init__(self, port, out, **more):
        super().__init__(**more)
        self.start_urls = [f"http://127.0.0.1:{port}/p/0"]
        self.out = open(out, "a")

    def parse(self, response):
        self.out.write(response.url + "\n")
        self.out.flush()
        for a in response.css("a::attr(href)").getall():
            yield response.follow(a, self.parse)
