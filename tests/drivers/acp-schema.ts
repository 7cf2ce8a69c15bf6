/** Checks each message of mini-cc against the JSON Schema that the official package of the protocol ships. */
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {Ajv2020, type ValidateFunction} from 'ajv/dist/2020.js';

type Side = 'agent' | 'client';
type Message = Readonly<Record<string, unknown>>;

interface Definition {
  readonly 'x-side'?: Side | 'protocol';
  readonly 'x-method'?: string;
}

/** The stable schema, and the one that has the unstable methods, too. */
const SCHEMAS = ['schema.json', 'schema.unstable.json'].map((name) => {
  const file = fileURLToPath(import.meta.resolve(`@agentclientprotocol/sdk/schema/v1/${name}`));
  const schema = JSON.parse(readFileSync(file, 'utf8')) as {readonly $defs: Readonly<Record<string, Definition>>};
  const ajv = new Ajv2020({strict: false, validateFormats: false, allErrors: true});
  ajv.addSchema(schema, name);
  const names = Object.entries(schema.$defs);
  return (kind: 'Request' | 'Response' | 'Notification', method: unknown, side: Side): ValidateFunction | undefined => {
    const found = names.find(
      ([title, about]) => title.endsWith(kind) && about['x-method'] === method && about['x-side'] === side,
    );
    return found && ajv.getSchema(`${name}#/$defs/${found[0]}`);
  };
});

/** @returns a line for each way in which what mini-cc sends is not as the schemas say */
export function createSchemaCheck() {
  const problems: string[] = [];
  /** Methods of the client's requests by their ids. */
  const asked = new Map<unknown, unknown>();
  const check = (kind: 'Request' | 'Response' | 'Notification', method: unknown, side: Side, value: unknown) => {
    const validators = SCHEMAS.flatMap((find) => find(kind, method, side) ?? []);
    if (validators.length === 0) problems.push(`${String(method)} is no ${kind} of the schema`);
    for (const validate of validators) {
      if (validate(value)) continue;
      problems.push(`${String(method)}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(value)}`);
    }
  };
  return {
    problems,
    /** Notes a line of the client. */
    noteSent(line: string): void {
      const {id, method} = JSON.parse(line) as Message;
      if (method !== undefined && id !== undefined) asked.set(id, method);
    },
    checkReceived(line: string): void {
      const message = JSON.parse(line) as Message;
      const {id, method, params, result, error, jsonrpc} = message;
      if (jsonrpc !== '2.0') problems.push(`no JSON-RPC: ${line}`);
      if (method === '$/cancel_request') return;
      if (method !== undefined) check(id === undefined ? 'Notification' : 'Request', method, 'client', params);
      else if (result !== undefined) check('Response', asked.get(id), 'agent', result);
      else if (typeof (error as Message | undefined)?.message !== 'string') problems.push(`no answer: ${line}`);
    },
  };
}
