import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {memoryFiles} from '../../src/config/memory-files.ts';
import {places} from './fixture.ts';

describe('memory files', () => {
  it('are read from the repository down to the working directory, AGENTS.md before CLAUDE.md', () => {
    const {base} = places({
      'home/AGENTS.md': 'mine',
      'AGENTS.md': 'not of this repository',
      'repo/.git/HEAD': 'ref: refs/heads/main',
      'repo/AGENTS.md': 'root',
      'repo/CLAUDE.md': 'hidden by AGENTS.md',
      'repo/pkg/CLAUDE.md': 'near',
    });
    const texts = memoryFiles(path.join(base, 'repo', 'pkg'), path.join(base, 'home')).map((file) => file.text);
    expect(texts).toEqual(['mine', 'root', 'near']);
  });
});
