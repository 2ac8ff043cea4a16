"""The practice site's pages through the whole chain give exactly the items its answer book names."""

from __future__ import annotations

from practice_site import Truth, site_config
from practice_site.site_file import site_document
from resources.warehouse.publish import publish
from resources.warehouse.read import published
from tests.warehouse.shop import Shop

DOMAIN = "127.0.0.9:8080"
ORIGIN = f"http://{DOMAIN}"


def put_night(shop: Shop, truth: Truth) -> int:
    pages = sorted(truth.expected_pages())
    for url in pages:
        found = truth.shop.resolve(url.removeprefix(ORIGIN))
        path = url.removeprefix(ORIGIN)
        shop.put(
            path, found.body, DOMAIN, url=url, final_url=url, headers=(("Content-Type", found.content_type),),
            key=shop.key(url),
        )  # fmt: skip
    return len(pages)


def test_every_book_is_a_row_and_prices_follow_the_nights(shop: Shop) -> None:
    shop.site("shop", site_document(DOMAIN))
    for night in (1, 2):
        truth = Truth(site_config(preset="tame", n_products=60, night=night), ORIGIN)
        pages = put_night(shop, truth)
        report = shop.parse(f"r{night}", DOMAIN)
        assert report.parsed + report.unchanged >= pages and not report.errors
        shop.load(f"r{night}", DOMAIN)
        expected = truth.expected_items()
        sold = [row["isbn"] for row in expected]
        publish(shop.installation)
        with published(shop.installation) as connection:
            rows = connection.execute(
                "SELECT url, isbn, title, authors, price::VARCHAR, price_currency, rating, format, language, pages, "
                "published::VARCHAR, category, availability FROM book WHERE list_contains($1, isbn) ORDER BY isbn",
                [sold],
            ).fetchall()
            rejected = connection.execute("SELECT * FROM rejected_items WHERE list_contains($1, url)",
                                          [[row["url"] for row in expected]]).fetchall()  # fmt: skip
        assert rejected == []
        assert rows == [
            (
                row["url"], row["isbn"], row["title"], row["authors"], f"{row['price']}00", "GBP", row["rating"],
                row["format"], row["language"], row["pages"], row["published"], row["category"],
                _availability(row["stock"], rows, row["isbn"]),
            )
            for row in expected
        ]  # fmt: skip
        shop.now += 86_400


def _availability(stock: int, rows: list[tuple[object, ...]], isbn: str) -> object:
    """The words of the page, which must agree with the stock."""
    words = str(next(row[-1] for row in rows if row[1] == isbn))
    assert (str(stock) in words) if stock else ("out" in words.lower())
    return words
