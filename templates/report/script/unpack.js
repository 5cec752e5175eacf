/* Records lie in the page as deflated JSON in base64; each pack is unpacked when it is needed. */

const KEPT_PACKS = 4;
const unpacked = new Map();

async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/* A run with its texts: `texts[n]` are the passages of its trial n. */
async function readRun(place, chunk) {
  const number = Math.floor(place / chunk);
  if (!unpacked.has(number)) {
    unpacked.set(number, await unpack(document.querySelectorAll("script.pack")[number]));
    if (unpacked.size > KEPT_PACKS) unpacked.delete(unpacked.keys().next().value);
  }
  const pack = unpacked.get(number);
  const texts = new Map();
  for (const said of Object.values(pack.texts)) {
    for (const [run, trial, passages] of said) if (run === place % chunk) texts.set(trial, passages);
  }
  return { ...pack.runs[place % chunk], texts };
}
