"""Make the pictures of the studio in the docs: an expert answers, and the window is photographed.

``python -m benchmarks.studio_pictures`` needs Chromium, chromedriver and Pillow; it writes to docs/assets.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from browser import DOWN, UP, Browser, at, chromium
from studios import Expert, running, write_square

ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"

_COLOURS = 200
"""So many colours are enough for lines and text, and make small files."""


def save(page: Browser, name: str) -> None:
    """Write what the window shows, in few colours."""
    time.sleep(0.6)  # the picture after the last change
    picture = Image.open(io.BytesIO(page.picture())).convert("RGB")
    picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(ASSETS / name, optimize=True)


def main() -> None:
    """Play the tutorial and photograph it."""
    with tempfile.TemporaryDirectory() as scratch, chromium() as page:
        square = Path(scratch) / "square"
        truth = write_square(square, sequences=4, seed=11)
        with running(square, Path(scratch) / "project") as server, server.client() as client:
            Expert(truth, client).answer(6)
            page.resize(1280, 860)
            page.open(server.address)
            page.wait("return document.body.dataset.ready", patience=60)
            save(page, "studio-ask.png")
            Expert(truth, client).answer(30)
            page.wait(
                "const s = document.getElementById('status').textContent;"
                "return s.startsWith('36') && s.endsWith('rules')",
                patience=120,
            )
            page.click("#zoom-all")
            box = page.run(
                "const b = document.getElementById('timeline').getBoundingClientRect();"
                "return [b.left, b.top, b.width]"
            )
            x, y = box[0] + 0.7 * box[2], box[1] + 36
            page.mouse(at(x, y), DOWN, UP)
            page.wait("return document.getElementById('said')")
            save(page, "studio-why.png")
            page.click("[data-view=rules]")
            page.wait("return document.querySelector('#view .rule')")
            page.click("#fires-0")
            page.wait("return document.getElementById('fired')")
            save(page, "studio-rules.png")
            page.click("[data-view=progress]")
            page.wait("return document.querySelectorAll('#view table').length > 1")
            save(page, "studio-progress.png")


if __name__ == "__main__":
    main()
