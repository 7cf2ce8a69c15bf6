import path from 'node:path';
import {execa} from 'execa';
import {expect, it} from 'vitest';
import {root} from '../support/run-cli.ts';

const program = (isGivenBack: boolean) => `
  import {holdBackCompiler} from ${JSON.stringify(path.join(root, 'src/cli/held-back-compiler.ts'))};
  class Point { constructor(x, y) { this.x = x; this.y = y; } add(o) { return new Point(this.x + o.x, this.y + o.y); } }
  function work(n) { let p = new Point(0.5, 1.5); for (let i = 0; i < n; i++) p = p.add(new Point(0.25, 0.75)); return p.x; }
  const giveBack = holdBackCompiler(true);
  for (let i = 0; i < 2_000; i++) work(10_000);
  console.log('SUBMITTED');
  if (${isGivenBack}) giveBack();
  for (let i = 0; i < 2_000; i++) work(10_000);
`;

it.each([true, false])(
  'what became hot while the last compiler was held back is compiled by it later: %s',
  async (isGivenBack) => {
    const {stdout} = await execa(process.execPath, [
      '--trace-opt',
      '--input-type=module',
      '--eval',
      program(isGivenBack),
    ]);
    const [before, after] = stdout.split('SUBMITTED');
    expect(before).toMatch(/compiling method .* work .*target MAGLEV/);
    expect(before).not.toContain('target TURBOFAN');
    expect(/compiling method .* work .*target TURBOFAN/.test(after!)).toBe(isGivenBack);
  },
);
