import {readFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {defineConfig} from 'vitest/config';

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
    setupFiles: ['tests/support/temporary-folders.ts'],
    include: ['tests/**/*.test.{ts,tsx}'],
    // `npm run test:outside`: these need the network.
    exclude: process.env.MINI_CC_OUTSIDE ? [] : ['tests/outside/**'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Most tests wait for processes: on two cores two files at a time take little more than half.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
