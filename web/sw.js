// Keeps the files of one build: what has the build in its name is taken from here, the rest from the network while there is one.
"use strict";
const NAME = "compatkb-@BUILD@";
self.addEventListener("install", (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener("activate", (event) => event.waitUntil(
  caches.keys().then((names) => Promise.all(names.filter((name) => name.startsWith("compatkb-") && name !== NAME).map((name) => caches.delete(name))))
    .then(() => self.clients.claim()),
));
const kept = async (request, response) => {
  if (response.ok) (await caches.open(NAME)).put(request, response.clone()).catch(() => {});
  return response;
};
self.addEventListener("message", (event) => event.waitUntil((async () => {
  for (const at of event.data) if (!await caches.match(at)) await fetch(at).then((response) => kept(new Request(at), response)).catch(() => {});
})()));
self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  const hashed = url.pathname.includes("-@BUILD@.") || url.pathname.includes("/engine/");
  event.respondWith((async () => {
    const here = await caches.match(request, { ignoreSearch: url.pathname.endsWith(".html") || url.pathname.endsWith("/") });
    if (hashed && here) return here;
    try { return await kept(request, await fetch(request)); } catch (error) { if (here) return here; throw error; }
  })());
});
