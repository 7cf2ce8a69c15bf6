import {readFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {defineConfig} from 'vitest/config';

/** Their tests leave nothing behind in the process. */
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
    projects: [
      // Code has no state outside of its objects, so that files can share what they import: it saves half of their time.
      {extends: true, test: {name: 'parts', include: PARTS, isolate: false}},
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
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Most tests wait for processes: on two cores two files at a time take little more than half.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
