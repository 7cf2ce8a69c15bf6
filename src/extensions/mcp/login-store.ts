/**
 * Stores the logins to MCP servers in `mcp-logins.json` of the user's home, by the address of the server: an entry with
 * the same name and another address gets none of them.
 */
import {existsSync, mkdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {z} from 'zod';
import {MiniCcError, tryOr} from '../../core/util/errors.ts';
import {writeWhole} from '../../core/util/files/whole-file.ts';

const FORMAT_VERSION = 1;

const loginSchema = z.object({
  /** The client as the authorization server registered it. */
  client: z.looseObject({client_id: z.string(), client_secret: z.string().optional()}).optional(),
  tokens: z
    .looseObject({access_token: z.string(), token_type: z.string(), refresh_token: z.string().optional()})
    .optional(),
  /** Scopes that the server asked for after the login. The next login asks for them, too. */
  wantedScope: z.string().optional(),
});
const fileSchema = z.object({version: z.int(), servers: z.record(z.string(), loginSchema)});

/** A login as the file has it. */
export type StoredLogin = z.output<typeof loginSchema>;

export class LoginStore {
  readonly #file: string;

  /** @param home mini-cc's own folder @param onSecrets gets tokens before they are used, so that they are redacted */
  constructor(
    home: string,
    private readonly onSecrets: (values: readonly string[]) => void = () => undefined,
  ) {
    this.#file = path.join(home, 'mcp-logins.json');
    this.onSecrets(Object.values(this.#read().servers).flatMap(listSecrets));
  }

  /** Returns the login to the server at this address. Another mini-cc may have changed it, so it is read each time. */
  get(url: string): StoredLogin {
    return this.#read().servers[new URL(url).href] ?? {};
  }

  /** @param login undefined removes it @throws MiniCcError `MCP_LOGIN` when the file is of a newer mini-cc */
  async set(url: string, login: StoredLogin | undefined): Promise<void> {
    const {version, servers} = this.#read();
    if (version > FORMAT_VERSION) {
      throw new MiniCcError('MCP_LOGIN', `${this.#file} was written by a newer mini-cc: it is not changed`);
    }
    if (login) this.onSecrets(listSecrets(login));
    const {[new URL(url).href]: _, ...others} = servers;
    const all = login ? {...others, [new URL(url).href]: login} : others;
    mkdirSync(path.dirname(this.#file), {recursive: true, mode: 0o700});
    await writeWhole(this.#file, `${JSON.stringify({version: FORMAT_VERSION, servers: all}, null, 2)}\n`, {
      mode: 0o600,
    });
  }

  /** A damaged file has no logins. */
  #read(): z.output<typeof fileSchema> {
    const empty = {version: FORMAT_VERSION, servers: {}};
    if (!existsSync(this.#file)) return empty;
    return tryOr(() => fileSchema.parse(JSON.parse(readFileSync(this.#file, 'utf8'))), empty);
  }
}

/** Says in words for the person how to log in to a server. */
export function describeLogin(server: string): string {
  return `it wants a login: /mcp login ${server}, or mini-cc mcp login ${server}; or give its entry a header, such as Authorization`;
}

function listSecrets({client, tokens}: StoredLogin): string[] {
  const values = [client?.client_secret, tokens?.access_token, tokens?.refresh_token];
  return values.filter((value) => value !== undefined);
}
