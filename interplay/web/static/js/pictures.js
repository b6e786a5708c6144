// Pictures of tasks that are still being made: the server sends a placeholder, and this script asks again until the picture is there.

/** Pixels of the placeholder, PLACEHOLDER_SIZE of pictures.py: no world has this size. */
const [WIDTH, HEIGHT] = [333, 251];
const EVERY_MS = 4000;
const TIMES = 90;

/**
 * Ask again while the server sends the placeholder.
 * @param {HTMLImageElement} image
 */
function follow(image) {
  const address = image.getAttribute("src") ?? "";
  let times = 0;
  const look = () => {
    if (image.naturalWidth !== WIDTH || image.naturalHeight !== HEIGHT || times === TIMES) return;
    times += 1;
    setTimeout(() => {
      image.src = `${address}?again=${times}`;
    }, EVERY_MS);
  };
  image.addEventListener("load", look);
  if (image.complete) look();
}

/** @type {NodeListOf<HTMLImageElement>} */ (document.querySelectorAll('img[src$="/picture.png"]')).forEach(follow);
