/*
 * A browser starts no worker for a page opened from a folder, and the search runs in one. There, and
 * only there, its script runs in a hidden frame instead. (The theme would ask a network for such a shim.)
 */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.frame = frame;
      const inside = (this.inside = frame.contentWindow);
      inside.postMessage = (data) => {
        const said = new MessageEvent("message", { data });
        this.dispatchEvent(said);
        if (this.onmessage) this.onmessage(said);
      };
      const tag = inside.document.createElement("script");
      tag.src = script;
      this.ready = new Promise((done) => (tag.onload = done));
      inside.document.body.appendChild(tag);
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
