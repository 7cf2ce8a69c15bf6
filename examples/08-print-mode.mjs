// From a script in any language: run the program in print mode and read its JSON result.
// Run: node examples/08-print-mode.mjs
import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {copySample} from './sample.mjs';

// Where mini-cc is on the PATH, run `mini-cc` itself.
const program = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const args = ['-p', 'Where is greet defined?', '--offline', '--output-format', 'json'];

const running = promisify(execFile)(process.execPath, [program, ...args], {cwd: await copySample()});
// Else it waits a while for more of the prompt on standard input.
running.child.stdin.end();
const {stdout} = await running;
const result = JSON.parse(stdout);

console.log(result.type, result.subtype);
console.log('turns:', result.num_turns, 'cost:', result.total_cost_usd);
console.log(result.result);
