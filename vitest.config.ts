import {readFileSync} from 'node:fs';
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
    include: ['tests/**/*.test.{ts,tsx}'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
