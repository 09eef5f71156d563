/**
 * Wires of a page (wire.js), held by one worker that is loaded with the page: a bridge that is away need not be asked for it.
 */

export function workerWires() {
  let worker = null;
  let newest = 0;
  let listener = null;

  function load() {
    // Of a blob, because such a worker may what the page may; one of a file has that file's own policy: nothing at all.
    const address = new URL('./wire_worker.js', import.meta.url).href;
    const source = URL.createObjectURL(new Blob([`import ${JSON.stringify(address)};`], { type: 'text/javascript' }));
    worker = new Worker(source, { type: 'module' });
    worker.onmessage = ({ data: { id, what, value } }) => id === newest && listener[what](value);
    worker.onerror = () => {
      worker = null; // it could not be loaded; the next wire tries again
      listener?.close();
    };
  }

  load();
  /** Open a wire, which ends the one before. */
  return (address, on) => {
    if (!worker) load();
    newest += 1;
    const id = newest;
    listener = on;
    const say = (what) => (value) => id === newest && worker?.postMessage({ id, what, value });
    say('open')(address);
    return { send: say('send'), beat: say('beat'), close: say('close') };
  };
}
