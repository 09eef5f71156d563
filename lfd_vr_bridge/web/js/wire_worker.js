/** The worker that holds the page's WebSocket; see wires.js for what is said to it. */

import { Wire } from './wire.js';

let wire = null;
const tell = (id, what) => (value) => postMessage({ id, what, value });

onmessage = ({ data: { id, what, value } }) => {
  if (what === 'open') {
    wire?.close();
    wire = new Wire(value, { open: tell(id, 'open'), message: tell(id, 'message'), latency: tell(id, 'latency'), close: tell(id, 'close') });
  } else wire?.[what](value);
};
