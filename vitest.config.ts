import {readFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {defineConfig} from 'vitest/config';
import {LEFT_OUT, withoutUnused} from './scripts/left-out.mjs';
import {PATIENCE_MS} from './tests/support/wait.ts';

/** Tests of parts of the code; the others drive the built program, repositories or the sandbox. */
const PARTS = ['agents', 'commands', 'config', 'core/turn', 'core/util', 'models', 'ui'].map(
  (folder) => `tests/${folder}/**/*.test.{ts,tsx}`,
);

/** Those that others import are loaded with them, else each would exist twice. */
const patched = new RegExp(
  `/node_modules/(?:${[...Object.keys(LEFT_OUT), 'ink-testing-library', '@anthropic-ai'].join('|')})/`,
);

export default defineConfig({
  plugins: [
    // What is tested is what ships.
    withoutUnused(LEFT_OUT, {isWhole: false}),
    {
      name: 'files-as-modules',
      enforce: 'pre',
      load(id) {
        if (id.endsWith('.md')) return `export default ${JSON.stringify(readFileSync(id, 'utf8'))}`;
        if (!patched.test(id)) return undefined;
        // A module has no `this`: vitest lets it be the global object, to which an old helper of AWS adds functions. And the
        // packages name source maps of files that they do not contain.
        return readFileSync(id, 'utf8')
          .replaceAll('(this && this.', '(undefined && undefined.')
          .replace(/^\/\/# sourceMappingURL=.*$/m, '');
      },
    },
  ],
  test: {
    globalSetup: 'tests/support/temporary-folders.ts',
    setupFiles: 'tests/support/unchanged-process.ts',
    server: {deps: {inline: [patched]}},
    // Files share what they import, and tests leave nothing behind in their process: it saves a second of each file.
    isolate: false,
    projects: [
      {extends: true, test: {name: 'parts', include: PARTS}},
      {
        extends: true,
        test: {
          name: 'programs',
          include: ['tests/**/*.test.{ts,tsx}'],
          // `npm run test:outside`: these need the network.
          exclude: [...PARTS, ...(process.env.MINI_CC_OUTSIDE ? [] : ['tests/outside/**'])],
        },
      },
    ],
    // Machines of CI stop for seconds and are slow; a test that passes waits for none of these.
    expect: {poll: {timeout: PATIENCE_MS}},
    testTimeout: 5 * PATIENCE_MS,
    hookTimeout: 5 * PATIENCE_MS,
    // Most tests wait for processes: a worker uses about half of a core.
    maxWorkers: 2 * availableParallelism(),
  },
});
