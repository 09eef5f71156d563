/** Colours with a meaning, the same in the page, in labels and on objects; every one comes with a word or an icon too. */

export const TONES = {
  good: '#37c978',
  hard: '#f2b134',
  bad: '#ff5d5d',
  unknown: '#9aa6b8',
  accent: '#5b9dff',
  landing: '#8fb8ff',
};

export const REACH_WORDS = {
  good: 'The robot can reach this',
  hard: 'Hard to reach',
  bad: 'Out of reach',
  unknown: 'Reach is not known yet',
};

/** What the canvases of headset panel and labels are painted with. */
export const INK = {
  ground: '#1d2127', raised: '#2a2f37', line: '#3c434e', text: '#f2f4f7', quiet: '#a9b2bf', accent: '#5b9dff', onAccent: '#0b1422',
  danger: '#e5484d', good: '#37c978', hard: '#f2b134', bad: '#ff6b6b',
};

export const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';
