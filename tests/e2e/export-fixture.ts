/** A session with subagents whose every text tries to leave its place in an exported page. */
import {say} from '../support/messages-server.ts';
import {countReplies, getFirstPrompt} from '../support/request-facts.ts';
import {callTools} from '../support/scripted-replies.ts';
import {home, isSubagent, project, serve} from './fixture.ts';

export const SESSION = '33333333-9d4a-4c6b-8e5f-0a1b2c3d4e5f';
export const KEY = 'sk-ant-secret-0123456789abcdef';

/** Markup, an address that scripts run from, a remote image, a turned text, and elements that end others. */
export const HOSTILE = [
  '<script>document.title="owned"</script><img src=x onerror="document.title=1">',
  '</pre></details></style></title><h1 id="owned">owned</h1>',
  '[click](javascript:document.title=2) ![pixel](http://127.0.0.1:9/pixel.png) <http://evil.example/a>',
  '"onmouseover="x" \' `</code><b id=owned>` \u202egnp.exe \u001b[2J',
].join('\n');

const ANSWER = `# What was found

| file | lines |
| --- | ---: |
| \`src/greet.ts\` | 12 |

1. one **bold** word
   - and below

> quoted ${HOSTILE}

\`\`\`html
<script>alert(1)</script>
\`\`\`

${HOSTILE}`;

const task = (description: string, agent = 'explore') => ({
  name: 'Task',
  input: {description, prompt: `${description}: ${HOSTILE}`, agent_type: agent},
});

/** Three subagents, two at a time, of which one fails; a command that prints the key. */
export async function exportedSession() {
  const server = await serve((body) => {
    const replies = countReplies(body);
    if (!isSubagent(body)) {
      if (replies > 0) return say(ANSWER);
      return callTools([task('find the greeting'), task('look for tests'), task(`plan <b>it</b>`, 'plan')]);
    }
    const prompt = getFirstPrompt(body);
    if (replies === 0) return callTools([{name: 'read_file', input: {path: 'src/greet.ts'}}]);
    if (replies === 1) return callTools([{name: 'bash', input: {command: `sleep 0.3; echo ${KEY}`}}]);
    return prompt.includes('tests') ? say('') : say(`found it. ${HOSTILE}`);
  });
  const [where, mine] = [await project(), await home()];
  return {server, home: mine, cwd: where.path, where, env: {MY_API_KEY: KEY}};
}

export const EXPORT_ARGS = [
  ...['-p', `explore it ${HOSTILE}`, '--session-id', SESSION],
  ...['--settings', '{"subagents": {"maxConcurrent": 2}}'],
];
