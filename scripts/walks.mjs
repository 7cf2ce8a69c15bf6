// npm run walks: counts the files of src/ that take part in a prompt, and in a prompt with one tool call. A reader who
// follows a walk through the sources has to read these. It only measures; no figure makes it fail.
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import './walks/source-loader.mjs';
import {findReachedFiles} from './walks/reached-files.mjs';
import {countStrippedBytesIn} from './walks/stripped-bytes.mjs';

const USAGE = `npm run walks -- [--list] [NAME…]

Counts the files of src/ of which a function runs in each walk, and those that the plain prompt does not reach.
  --list   names them: for a walk, those beyond the plain prompt`;

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const support = path.join(root, 'tests', 'support');
const {startMessagesServer} = await import(path.join(support, 'messages-server.ts'));
const {callTool, say} = await import(path.join(support, 'scripted-replies.ts'));

const FILES = {'a.txt': 'one\n'};
const PLAYED_SERVER = path.join(root, 'tests', 'extensions', 'mcp', 'played-server.mjs');
const read = callTool('read_file', {path: 'a.txt'});

/**
 * The model's replies before its answer, and the user's settings. The command of `bash` is allowed and runs unconfined
 * after a checkpoint; the command of `sandbox` only reads. An edit needs a file that was read.
 */
const WALKS = {
  plain: {},
  bash: {calls: [callTool('bash', {command: 'touch b.txt'})]},
  sandbox: {calls: [callTool('bash', {command: 'ls -l'})]},
  Task: {calls: [callTool('Task', {description: 'look', prompt: 'look', agent_type: 'explore'})]},
  edit_file: {calls: [read, callTool('edit_file', {path: 'a.txt', old_string: 'one', new_string: 'two'})]},
  read_file: {calls: [read]},
  MCP: {
    calls: [callTool('mcp__played__echo', {text: 'hello'})],
    settings: {mcpServers: {played: {command: process.execPath, args: [PLAYED_SERVER]}}},
  },
  hook: {settings: {hooks: {UserPromptSubmit: [{hooks: [{type: 'command', command: 'true'}]}]}}},
};

const {values, positionals: names} = parseArgs({
  options: {list: {type: 'boolean', default: false}, help: {type: 'boolean', default: false}},
  allowPositionals: true,
});
const print = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);
const unknown = names.find((name) => !(name in WALKS));

if (values.help) print(USAGE);
else if (unknown === undefined) await main();
else {
  process.stderr.write(`walks: no walk ${unknown}; there are ${Object.keys(WALKS).join(', ')}\n`);
  process.exitCode = 2;
}

async function main() {
  const plain = await walk(WALKS.plain);
  const known = new Set(plain);
  print(formatRow('walk', 'files', 'beyond the plain prompt'));
  print(formatRow('plain', plain.length, ''));
  if (values.list) list(plain);
  for (const [name, what] of Object.entries(WALKS)) {
    if (name === 'plain' || (names.length > 0 && !names.includes(name))) continue;
    const reached = await walk(what);
    const beyond = reached.filter((file) => !known.has(file));
    print(formatRow(name, reached.length, `+${beyond.length}`));
    if (values.list) list(beyond);
  }
  const bytes = countStrippedBytesIn(path.join(root, 'src')).toLocaleString('en');
  print(`\nsrc/ has ${bytes} bytes of TypeScript without comments and white space.`);
}

function formatRow(name, files, beyond) {
  return `${name.padEnd(10)}${String(files).padStart(5)}  ${beyond}`.trimEnd();
}

function list(files) {
  for (const file of files) print(`  ${file}`);
}

/** @returns {Promise<string[]>} the files that the walk reaches */
async function walk({calls = [], settings}) {
  const isSubagent = ({tools}) => !tools?.some(({name}) => name === 'Task');
  const refused = [];
  const server = await startMessagesServer((body) => {
    const replies = body.messages.filter(({role}) => role === 'assistant').length;
    const last = body.messages.at(-1).content;
    if (Array.isArray(last)) refused.push(...last.filter((block) => block.is_error));
    return (isSubagent(body) ? undefined : calls[replies]) ?? say('Done.');
  });
  try {
    const args = [
      '-p',
      'hello',
      '--permission-mode',
      'acceptEdits',
      '--allowed-tools',
      'bash(touch b.txt)',
      'mcp__played__echo',
    ];
    const reached = await findReachedFiles({root, args, url: server.url, settings, files: FILES});
    // A failed call would make another walk.
    if (refused.length > 0) throw new Error(`a call failed: ${JSON.stringify(refused)}`);
    return reached;
  } finally {
    await server.close();
  }
}
