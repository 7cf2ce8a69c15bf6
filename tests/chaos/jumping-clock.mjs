// Preloaded into mini-cc: moves the wall clock by the milliseconds that the file TEST_CLOCK says, as a clock that is set does.
import {readFileSync} from 'node:fs';

const file = process.env.TEST_CLOCK;
const RealDate = Date;
const realNow = Date.now.bind(Date);
let [offset, readAt] = [0, 0];

function now() {
  const real = realNow();
  if (real - readAt > 100) {
    readAt = real;
    try {
      offset = Number(readFileSync(file, 'utf8')) || 0;
    } catch {
      // No jump yet.
    }
  }
  return real + offset;
}

globalThis.Date = class JumpingDate extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(now());
    else super(...args);
  }
  static now() {
    return now();
  }
};
