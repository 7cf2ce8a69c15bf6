/** What README.md and docs/ say is true: links, flags, commands, JSON. What docs/ tells to type: tests/e2e/docs-recipes.test.ts. */

import {existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {parseInlineAgents} from '../src/agents/json-source.ts';
import {FLAGS, SUBCOMMANDS, written} from '../src/cli/flags.ts';
import {AGENT_TOOLS, ALL_TOOLS} from '../src/compose/known-tools.ts';
import {readSettingsFile} from '../src/config/settings-file.ts';
import {root} from './support/run-cli.ts';

const pages = [
  'README.md',
  ...readdirSync(path.join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
const texts = new Map(pages.map((page) => [page, readFileSync(path.join(root, page), 'utf8')]));

/** Spans of code, and lines of code blocks. */
function listCode(text: string): string[] {
  const blocks = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block]) => block!.split('\n'));
  const spans = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span]) => span!);
  return [...blocks, ...spans].map((line) => line.trim());
}

function toAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(/\s/g, '-');
}

test.each(pages)('each link of %s leads somewhere', (page) => {
  const links = [...texts.get(page)!.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^https?:/.test(link));
  const broken = links.filter((link) => {
    const [file = '', anchor] = link.split('#');
    const target = path.join(root, path.dirname(page), file || path.basename(page));
    if (!existsSync(target)) return true;
    if (anchor === undefined) return false;
    const headings = [...readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => toAnchor(heading!));
    return !headings.includes(anchor);
  });
  expect(broken).toEqual([]);
});

test('each flag and subcommand of mini-cc that a page names is there', () => {
  const known = new Set(Object.keys(FLAGS).map(written));
  const wrong = [...texts].flatMap(([page, text]) =>
    listCode(text)
      .filter((line) => /^(?:.*\| )?mini-cc /.test(line))
      .flatMap((line) => {
        const words = line.replace(/^.*?mini-cc /, '').split(/\s+#/)[0]!;
        const flags = [...words.matchAll(/(?<=^|\s)--[a-z-]+/g)]
          .map(([flag]) => flag)
          .filter((flag) => flag !== '--' && !known.has(flag));
        const [first = ''] = words.split(' ');
        const isUnknown =
          /^[a-z]+$/.test(first) &&
          !(SUBCOMMANDS as readonly string[]).includes(first) &&
          !['everywhere'].includes(first);
        return [...flags, ...(isUnknown ? [first] : [])].map((each) => `${page}: ${each} in ${line}`);
      }),
  );
  expect(wrong).toEqual([]);
});

test('each block of JSON is a definition or settings that are read without a word', () => {
  const wrong = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/^```json\n([\s\S]*?)^```/gm)].flatMap(([, block]) => {
      const value = JSON.parse(block!) as Record<string, unknown>;
      if ('prompt' in value) {
        const {name, $schema: _, ...fields} = value;
        const inline = JSON.stringify({[String(name)]: fields});
        const results = parseInlineAgents(inline, page, {
          listable: {known: AGENT_TOOLS, names: ['bash', 'read_file']},
          dialect: 'json',
          mayWiden: () => true,
        });
        return results.flatMap(({problems}) => problems.map(({message}) => `${page}: ${message}`));
      }
      const reading = {tools: ALL_TOOLS, isForeign: true, isDriven: false};
      return readSettingsFile(page, block!, reading).problems.map(({message}) => `${page}: ${message}`);
    }),
  );
  expect(wrong).toEqual([]);
});

test('the README has at most 200 lines', () => {
  expect(texts.get('README.md')!.split('\n').length).toBeLessThanOrEqual(200);
});
