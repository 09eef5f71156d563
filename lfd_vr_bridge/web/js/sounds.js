/** Small sounds for what hands do; off until switched on, since browsers allow sound only after a click. */

const TONES = { grab: [520, 0.05], release: [390, 0.06], done: [660, 0.12], fault: [190, 0.2] }; // [Hz], [s]

export class Sounds {
  #context = null;

  constructor(store) {
    this.store = store;
  }

  play = (name) => {
    if (!this.store.state.sounds) return;
    this.#context ??= new AudioContext();
    const [pitch, length] = TONES[name];
    const oscillator = new OscillatorNode(this.#context, { type: 'sine', frequency: pitch });
    const gain = new GainNode(this.#context, { gain: 0.08 });
    gain.gain.exponentialRampToValueAtTime(0.001, this.#context.currentTime + length);
    oscillator.connect(gain).connect(this.#context.destination);
    oscillator.start();
    oscillator.stop(this.#context.currentTime + length);
  };
}
