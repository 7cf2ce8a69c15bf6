/** A small project in several languages. */
import {folder} from './simple-tools.ts';

const FILES = {
  'package.json': `{
  "name": "parcel-tracker",
  "description": "Tracks parcels",
  "bin": {"parcel": "dist/cli.js"},
  "scripts": {
    "build": "tsc",
    "test": "vitest run"
  },
  "dependencies": {"zod": "4.0.0"}
}
`,
  'README.md':
    '# Parcel tracker\n\nParcel tracker tracks parcels. It is small.\n\n## Use\n\n- `src/core/` holds the tracking rules\n',
  'src/cli.ts':
    "/** The command line of parcel tracker. */\nimport {track} from './core/track.ts';\n\nfunction main() {\n  track('a');\n}\n\nmain();\n",
  'src/core/track.ts': `import {retry} from './retry.ts';

/**
 * Finds out where a parcel is.
 * Asks the carrier, with retries.
 */
export function track(id: string): string {
  // TODO: ask a second carrier
  return retry(() => \`track \${id}\`);
}

export const trackAll = (ids: string[]) => ids.map((id) => track(id));
`,
  'src/core/retry.ts':
    '/** Tries again after a failure. */\nexport function retry<T>(work: () => T): T {\n  try {\n    return work();\n  } catch (e) {}\n  return work();\n}\n',
  'src/core/config.ts': "export const apiKey = 'sk_live_abcdef0123456789';\nexport let loose: any = eval('1');\n",
  'tests/track.test.ts': "import {track} from '../src/core/track.ts';\n// track is tested here\ntrack('x');\n",
  'tools/scan.py': '"""Scans labels."""\n\n\ndef scan_label(path):\n    """Reads one label."""\n    return path\n',
};

export function project(): string {
  return folder(FILES);
}
