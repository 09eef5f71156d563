/** The form that asks for the console's code, when this device is not paired yet. */

const DIGITS = 6;

export class PairingForm {
  /** `submit(code)` is called with six digits. */
  constructor(dialog, submit) {
    this.dialog = dialog;
    this.input = dialog.querySelector('input');
    this.error = dialog.querySelector('[data-error]');
    this.button = dialog.querySelector('button');
    this.submit = submit;
    dialog.querySelector('form').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
    });
    this.input.addEventListener('input', () => {
      this.input.value = this.input.value.replace(/\D/g, '').slice(0, DIGITS);
      this.error.textContent = '';
      if (this.input.value.length === DIGITS) this.#send();
    });
    dialog.addEventListener('cancel', (event) => event.preventDefault());
  }

  show(message = '') {
    this.error.textContent = message;
    this.button.disabled = false;
    this.input.value = '';
    if (!this.dialog.open) this.dialog.showModal();
    this.input.focus();
  }

  /** Say why it takes longer, if the form is open; the code can be typed anew. */
  explain(message) {
    if (!this.dialog.open || !message) return;
    this.error.textContent = message;
    this.button.disabled = false;
  }

  hide() {
    if (this.dialog.open) this.dialog.close();
  }

  #send() {
    if (this.input.value.length !== DIGITS) {
      this.error.textContent = 'The code has six digits.';
      return;
    }
    this.button.disabled = true;
    this.submit(this.input.value);
  }
}

/** The code in an address like #code=123456 (as the console's link has it), or null. */
export function codeOf(hash) {
  return new URLSearchParams(hash.replace(/^#/, '')).get('code')?.match(/^\d{6}$/)?.[0] ?? null;
}
