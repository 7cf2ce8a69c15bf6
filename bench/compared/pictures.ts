/**
 * The pictures of docs/compared.md: one session, played by each program in tmux, and drawn from the cells of the terminal.
 * The texts of all screens, which the page's rows were judged by, are written into a folder of the user's cache.
 */
import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {DARK, drawPanels, LIGHT, type Look, type Screen} from '../../scripts/terminal-picture.mjs';
import {root} from '../../tests/support/run-cli.ts';
import {startModelServer} from './model-server.ts';
import type {PaneOptions} from './pane.ts';
import {createProgram, PROGRAM_NAMES, type ProgramName} from './programs.ts';
import {TITLES} from './report.ts';
import {playSession} from './session.ts';

interface Version {
  readonly title: string;
  readonly steps: ReadonlyMap<string, Screen>;
}

/** How mini-cc is shown: the ground of the terminal, its colours, and its width. */
interface Looks {
  readonly look: Look;
  readonly cols?: number;
  readonly terminal?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const DARK_LOOKS: Looks = {look: DARK};
const OTHER_LOOKS: Readonly<Record<string, Looks>> = {
  'light ground': {look: LIGHT},
  '16 colours': {look: DARK, terminal: 'screen', env: {COLORTERM: ''}},
  '60 columns': {look: DARK, cols: 60},
};
const FAILED = ' failed: ';

/** Steps of the session that are drawn for all programs, with the names of the files. */
const SCENES: Readonly<Record<string, string>> = {
  first: 'first screen',
  question: 'question for a command',
  diff: 'edit with its diff',
  agents: 'two agents at work',
  'agents done': 'both agents have ended',
  table: 'answer with a table',
  'slash model': '/model',
  paste: '301 pasted lines',
  narrow: 'from 100 to 60 columns',
  error: 'error of the server',
};

/** Steps that are drawn of mini-cc alone, in all looks. */
const OWN_SCENES: Readonly<Record<string, string>> = {
  ...{first: 'first screen', question: 'question', diff: 'diff', agents: 'agents at work'},
  ...{'agents done': 'agents done', table: 'table', 'slash model': 'models', resume: 'sessions'},
  ...{'slash rewind': 'prompts to go back to', 'ctrl-r': 'earlier prompts'},
};

const slug = (step: string) => step.replaceAll(' ', '-');

/** @returns whether all sessions were played to their ends */
export async function drawPictures(onProgress: (text: string) => void): Promise<boolean> {
  const texts = path.join(homedir(), '.cache', 'mini-cc-compared');
  rmSync(texts, {recursive: true, force: true});
  let isWhole = true;
  const play = (name: ProgramName, looks: Looks, folder: string) =>
    keepSteps(name, looks, path.join(texts, folder), (text) => {
      if (text.includes(FAILED)) isWhole = false;
      onProgress(text);
    });
  const [programs, own] = await Promise.all([
    Promise.all(PROGRAM_NAMES.map((name) => play(name, DARK_LOOKS, name))),
    Promise.all(Object.entries(OTHER_LOOKS).map(([title, looks]) => play('mini-cc', looks, `mini-cc ${title}`))),
  ]);
  const titles = Object.keys(OTHER_LOOKS);
  const looks = [
    {...programs[0]!, title: 'dark ground'},
    ...own.map((each, index) => ({...each, title: titles[index]!})),
  ];
  const folder = path.join(root, 'docs', 'pictures');
  mkdirSync(folder, {recursive: true});
  drawScenes(SCENES, programs, (step) => path.join(folder, `${slug(step)}.svg`), 'mini-cc, Claude Code, Codex and Pi');
  drawScenes(OWN_SCENES, looks, (step) => path.join(folder, `mini-cc-${slug(step)}.svg`), 'mini-cc');
  onProgress(`The pictures are in ${folder}, the texts of all screens in ${texts}`);
  return isWhole;
}

/** Names a home of another machine in the place of the bench's own, which is as long, so that no cell moves. */
function hideHomes(picture: string): string {
  const other = '/home/ada/projects/greeting-tools';
  return picture.replaceAll(/\/[\w/.-]*\/\.cache\/mini-cc-bench-\w{6}/g, ({length}) =>
    other.padEnd(length, '-').slice(0, length),
  );
}

function drawScenes(
  scenes: Readonly<Record<string, string>>,
  versions: readonly Version[],
  fileOf: (step: string) => string,
  who: string,
): void {
  for (const [step, what] of Object.entries(scenes)) {
    const panels = versions.map(({title, steps}) => {
      const screen = steps.get(step);
      return {title, ...(screen ? {screen} : {note: 'It has none.'})};
    });
    writeFileSync(fileOf(step), hideHomes(drawPanels(panels, {label: `${who}: ${what}`})));
  }
}

async function keepSteps(
  name: ProgramName,
  {look, cols = 100, terminal, env}: Looks,
  folder: string,
  onProgress: (text: string) => void,
): Promise<Version> {
  mkdirSync(folder, {recursive: true});
  const server = await startModelServer();
  const program = createProgram(name, server.url);
  const asking = {...program.asking, env: {...program.asking.env, ...env}};
  const steps = new Map<string, Screen>();
  const options: PaneOptions = {cols, look, ...(terminal !== undefined && {terminal})};
  try {
    await playSession({...program, asking}, server, options, async (step, pane, beside = '') => {
      onProgress(`${name}, ${cols} columns: ${step}`);
      steps.set(step, await pane.screen());
      const file = path.join(folder, `${String(steps.size).padStart(2, '0')} ${step.replaceAll('/', '')}.txt`);
      writeFileSync(file, `${pane.text()}\n${beside}\n`);
    });
  } catch (error) {
    onProgress(`${name}, ${cols} columns,${FAILED}${error instanceof Error ? error.message : error}`);
  } finally {
    await server.close();
    program.remove();
  }
  return {title: `${TITLES[name]} ${program.version}`, steps};
}
