// Draws the pictures, which are Mermaid's text in the pages. Without a network the text stays.
document.addEventListener("DOMContentLoaded", async () => {
  const texts = document.querySelectorAll("code.language-mermaid");
  if (texts.length === 0) return;
  const { default: mermaid } = await import("https://cdn.jsdelivr.net/npm/mermaid@12.3.0/dist/mermaid.esm.min.mjs");
  mermaid.initialize({ startOnLoad: false, securityLevel: "strict" });
  for (const [number, text] of texts.entries()) {
    const { svg } = await mermaid.render(`picture-${number}`, text.textContent);
    const picture = document.createElement("div");
    picture.innerHTML = svg;
    text.parentElement.replaceWith(picture);
  }
});
