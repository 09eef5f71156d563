/** Which steps of a task are kept when it is trimmed: whole picks and places only. Pure. */

/** Where the groups of a task begin and end: `[[first, last], ...]`, each a pick with all until its place, or one step. */
export function groupsOf(keyframes) {
  const groups = [];
  let open = false;
  keyframes.forEach(({ kind }, index) => {
    if (open) groups.at(-1)[1] = index;
    else groups.push([index, index]);
    open = open ? kind !== 'place' : kind === 'pick';
  });
  return groups;
}

/** Move an end of what is kept by a group; gives the same range if there is none to move to. */
export function trimmed(keyframes, { first, last }, end, way) {
  const groups = groupsOf(keyframes);
  const [from, to] = [groups.findIndex((group) => group[0] === first), groups.findIndex((group) => group[1] === last)];
  const at = end === 'first' ? from + way : to + way;
  const fits = end === 'first' ? at >= 0 && at <= to : at >= from && at < groups.length;
  if (!fits) return { first, last };
  return end === 'first' ? { first: groups[at][0], last } : { first, last: groups[at][1] };
}
