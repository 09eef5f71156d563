/**
 * A planned motion at a moment: joints, fingers, and what is attached to which link. Pure, no three.js.
 *
 * `plan` is the protocol's: `joints`, `times` [s], `q` (rows), `segments` with what is attached or detached at their ends.
 */

/** The row of joint positions at time t [s], straight between the rows; before and after the motion its ends. */
export function jointsAt(plan, t) {
  const { times, q } = plan;
  if (!times.length) return [];
  if (t <= times[0]) return q[0];
  const end = times.length - 1;
  if (t >= times[end]) return q[end];
  let low = 0;
  let high = end;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  const span = times[high] - times[low];
  const part = span > 0 ? (t - times[low]) / span : 1;
  return q[low].map((value, joint) => value + part * (q[high][joint] - value));
}

export const durationOf = (plan) => (plan.times.length ? plan.times[plan.times.length - 1] : 0);

/** When a segment ends [s]. */
export const endOf = (plan, segment) => plan.times[Math.min(segment.last, plan.times.length - 1)] ?? 0;

/** The index of the segment that runs at t. */
export function segmentAt(plan, t) {
  const index = plan.segments.findIndex((segment) => t <= endOf(plan, segment));
  return index < 0 ? plan.segments.length - 1 : index;
}

/** Positions of the hand's joints at t: those of the last segment that has ended, or of the first that names them. */
export function fingersAt(plan, t) {
  const positions = {};
  for (const segment of plan.segments) {
    for (const [joint, position] of Object.entries(segment.gripper ?? {})) {
      if (endOf(plan, segment) <= t || !(joint in positions)) positions[joint] = position;
    }
  }
  return positions;
}

/** What happens to objects, in order: `[{time, object, link, attach: bool}]`. */
export function handovers(plan) {
  const events = [];
  for (const segment of plan.segments) {
    const time = endOf(plan, segment);
    if (segment.detach) events.push({ time, ...segment.detach, attach: false });
    if (segment.attach) events.push({ time, ...segment.attach, attach: true });
  }
  return events;
}
