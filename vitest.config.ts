import {readFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {defineConfig} from 'vitest/config';

/** Tests of parts of the code; the others drive the built program, repositories or the sandbox. */
const PARTS = ['agents', 'commands', 'config', 'core/turn', 'core/util', 'models', 'ui'].map(
  (folder) => `tests/${folder}/**/*.test.{ts,tsx}`,
);

export default defineConfig({
  plugins: [
    {
      name: 'prose-files',
      enforce: 'pre',
      load(id) {
        return id.endsWith('.md') ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))}` : undefined;
      },
    },
  ],
  test: {
    globalSetup: 'tests/support/temporary-folders.ts',
    setupFiles: 'tests/support/unchanged-process.ts',
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
    // A machine may stop for seconds; a test that passes waits for none of these.
    expect: {poll: {timeout: 20_000}},
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // Most tests wait for processes: a worker uses about half of a core.
    maxWorkers: availableParallelism() + 1,
  },
});
