/** The agents of this repository's own `.mini-cc/agents`, bundled with mini-cc as templates and examples. */
import architect from '../../.mini-cc/agents/architect.json';
import debuggerAgent from '../../.mini-cc/agents/debugger.json';
import docReader from '../../.mini-cc/agents/doc-reader.json';
import documenter from '../../.mini-cc/agents/documenter.json';
import refactorer from '../../.mini-cc/agents/refactorer.json';
import reviewer from '../../.mini-cc/agents/reviewer.json';
import tester from '../../.mini-cc/agents/tester.json';
import {type AgentFile, agentFileSchema} from './schema.ts';

const SHIPPED: readonly unknown[] = [architect, debuggerAgent, docReader, documenter, refactorer, reviewer, tester];

export function getTemplates(): Readonly<Record<string, AgentFile>> {
  const definitions = SHIPPED.map((each) => agentFileSchema.parse(each));
  return Object.fromEntries(definitions.map((definition) => [definition.name, definition]));
}
