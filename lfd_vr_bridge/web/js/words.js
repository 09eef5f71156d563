/** Words on canvases. Pure. */

/** Break words into lines that are at most `width` px wide; `measure(words)` gives px. A word too long for a line is cut. */
export function wrap(measure, text, width) {
  const lines = [];
  let line = '';
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const longer = line ? `${line} ${word}` : word;
    if (measure(longer) <= width) {
      line = longer;
      continue;
    }
    if (line) lines.push(line);
    line = word;
    while (measure(line) > width && [...line].length > 1) {
      const head = beginning(measure, line, width);
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  if (line) lines.push(line);
  return lines;
}

/** At most so many lines; what is left out is marked. */
export function shortened(lines, most) {
  return lines.length > most ? [...lines.slice(0, most - 1), `${lines[most - 1]} …`] : lines;
}

/** The longest beginning that fits; at least one character. */
function beginning(measure, word, width) {
  const letters = [...word];
  let count = letters.length;
  while (count > 1 && measure(letters.slice(0, count).join('')) > width) count -= 1;
  return letters.slice(0, count).join('');
}
