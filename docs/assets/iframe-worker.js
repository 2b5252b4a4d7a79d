// The search of these pages runs in a worker, which browsers refuse to pages that are opened from
// disk. There, a hidden frame does the worker's part: same messages, no thread of its own.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = this.onerror = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      this.frame = frame;
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.answer(data);
      this.inside.importScripts = (...urls) =>
        urls.reduce((before, each) => before.then(() => this.load(each)), Promise.resolve());
      this.ready = this.load(new URL(url, document.baseURI).href);
    }

    load(url) {
      const inner = this.inside.document;
      return new Promise((resolve, reject) => {
        const script = inner.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = reject;
        inner.head.append(script);
      });
    }

    answer(data) {
      const message = new MessageEvent("message", { data });
      this.dispatchEvent(message);
      if (this.onmessage) this.onmessage(message);
    }

    postMessage(data) {
      this.ready.then(() => {
        const message = new this.inside.MessageEvent("message", { data });
        this.inside.dispatchEvent(message);
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
