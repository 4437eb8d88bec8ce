// The engine in the browser: the program of the command line, run by Pyodide. It answers the questions that no page was written
// for. What stands between at signs is filled in when the site is built.
const ALL = Number("@BYTES@");
const here = import.meta.url;
let loaded = 0;
let told = 0;

// counts what is fetched, so that the page can show how far it is
const plain = self.fetch.bind(self);
self.fetch = async (...request) => {
  const response = await plain(...request);
  if (!response.ok || !response.body) return response;
  const counted = response.body.pipeThrough(new TransformStream({
    transform(chunk, to) {
      loaded += chunk.length;
      if (loaded - told > ALL / 50) { told = loaded; postMessage({ loaded, total: ALL }); }
      to.enqueue(chunk);
    },
  }));
  return new Response(counted, { status: response.status, headers: response.headers });
};

const begin = async () => {
  const folder = new URL("@PYODIDE@/", here).href;
  const bundle = self.fetch(new URL("@BUNDLE@", here)).then((response) => {
    if (!response.ok) throw new Error("the site was built anew: reload the page");
    return response.arrayBuffer();
  });
  const { loadPyodide } = await import(`${folder}pyodide.mjs`);
  const python = await loadPyodide({ indexURL: folder });
  python.unpackArchive(await bundle, "zip", { extractDir: "/app" });
  postMessage({ loaded: ALL, total: ALL, word: "Starting the engine. Until it is there, the command line answers:" });
  const desk = python.runPython("import sys; sys.path.insert(0, '/app'); from compatkb.web.browser import open_desk; open_desk('/app')");
  performance.mark("engine");
  return desk;
};

let desk = null;
self.onmessage = async ({ data }) => {
  try {
    desk ||= begin();
    const made = await desk;
    const begun = performance.now();
    const text = data.json ? made.answer(data.query) : data.mine ? made.mine(data.query) : made.page(data.query);
    postMessage({ id: data.id, [data.json ? "json" : "html"]: text, taken: performance.now() - begun });
  } catch (error) {
    desk = null;
    postMessage({ id: data.id, error: String(error.message || error).trim().split("\n").pop() });
  }
};
