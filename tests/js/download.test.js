// The download of a video: what the page says.

import assert from "node:assert/strict";
import test from "node:test";

import { wordsOf } from "../../interplay/web/static/js/download.js";

test("who waits for a video is told how far it is, or what it waits for", () => {
  assert.equal(wordsOf("making", 0.428), "Making the video … 42 %");
  assert.equal(wordsOf("waiting", 0), "Waiting for other videos …");
  assert.equal(wordsOf("held", 0.5), "Waiting while people play …");
});
