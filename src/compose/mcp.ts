/** Creates the MCP servers of a session: reads their entries, and sets how their programs start. */
import {homedir} from 'node:os';
import {isRead} from '../config/layers.ts';
import type {LoadedSettings} from '../config/settings.ts';
import type {Emit} from '../core/contract/events.ts';
import type {Trusts} from '../core/contract/permission.ts';
import type {Plugin} from '../core/contract/plugin.ts';
import type {Questions} from '../core/permissions/questions.ts';
import type {RuleBook} from '../core/permissions/rules/rule-book.ts';
import {getKnownSecrets} from '../core/secrets/known-secrets.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {toQuestion} from '../core/session/commands.ts';
import {MiniCcError} from '../core/util/errors.ts';
import {type EntrySource, joinEntries, readProjectEntries, readTypedEntries} from '../extensions/mcp/entry-files.ts';
import {LoginStore} from '../extensions/mcp/login-store.ts';
import type {Sampling} from '../extensions/mcp/sampling.ts';
import {listVariables, type ServerEntry} from '../extensions/mcp/server-entry.ts';
import {McpServers} from '../extensions/mcp/servers.ts';
import type {Sandbox} from '../sandbox/index.ts';
import type {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import type {SessionOptions} from './options.ts';

interface McpParts {
  readonly options: SessionOptions;
  /** Folder of the session, with links resolved. */
  readonly root: string;
  readonly loaded: Pick<LoadedSettings, 'origins' | 'claims' | 'settings'> & {
    readonly trust: {readonly trusts: Trusts};
    readonly plugins: readonly Plugin[];
  };
  /** Environment of programs, without keys. */
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
  readonly processes: ProcessGroups;
  readonly rules: RuleBook;
  readonly emit: Emit;
  /** Absent on the command line, where no server is asked to do anything. */
  readonly questions?: Questions;
  readonly redactor: Redactor;
  /** Folders of the session besides `root`. */
  readonly extraRoots: readonly string[];
}

export function createMcpServers(parts: McpParts) {
  const {options, root, loaded, env, sandbox, processes, rules, emit, questions, redactor, extraRoots} = parts;
  const {entries, warnings} = readEntries(options, root, loaded);
  const sampling: Sampling = {
    allowed: loaded.settings.mcp?.sampling,
    granted: new Set(),
    // The session replaces this, since it has the model.
    complete: () => Promise.reject(new MiniCcError('OFFLINE', 'No session is open.')),
  };
  const servers = new McpServers({
    entries,
    env: options.env,
    driver: options.driverServers,
    program: {cwd: root, env, processes},
    async getConfine() {
      const status = await sandbox.status();
      if (!status.available) {
        throw new MiniCcError(
          'SANDBOX_UNAVAILABLE',
          `it runs only in a sandbox, and ${status.reason}: ${status.remedy}`,
        );
      }
      return (argv) => sandbox.confine('read-only', argv, {cwd: root, root, extraRoots: [], env});
    },
    isForbidden: (tool) => rules.forbids(tool),
    warn: (text) => emit({type: 'notice', level: 'warning', text}),
    logins: new LoginStore(options.home, (values) => redactor.add(values.map((value) => ({name: 'MCP_LOGIN', value})))),
    secrets: {
      note(entry) {
        const shown = [root, options.home, homedir()];
        const variables = listVariables(entry, options.env);
        redactor.add(variables.flatMap((each) => getKnownSecrets(each, [], shown)));
      },
      redact: (value) => redactor.values(value),
    },
    questions: {
      getRoots: () => [root, ...extraRoots],
      sampling: questions && sampling,
      elicit: options.driverServers && ((...form) => options.driverServers!.elicit(...form)),
      ...(questions &&
        (options.interactive || options.driverIsAsked === 'questions') && {
          async ask(question, signal) {
            const answer = await questions.ask(toQuestion(question), emit, signal);
            return typeof answer === 'string' ? undefined : answer;
          },
        }),
    },
  });
  return {servers, warnings, sampling};
}

/** @throws UsageError for a wrong `--mcp-config` */
export function readEntries(
  options: Pick<
    SessionOptions,
    'cwd' | 'mcpConfig' | 'mcpServers' | 'driverServers' | 'strictMcpConfig' | 'settingSources'
  >,
  root: string,
  loaded: McpParts['loaded'],
): {readonly entries: readonly ServerEntry[]; readonly warnings: readonly string[]} {
  const {mcpConfig = [], mcpServers = {}, driverServers, strictMcpConfig = false, settingSources} = options;
  const typed = [
    ...mcpConfig.map((each) => readTypedEntries(each, root, driverServers !== undefined)),
    {from: 'driver', servers: mcpServers},
    {from: 'driver', servers: Object.fromEntries(driverServers?.names.map((name) => [name, {type: 'sdk'}]) ?? [])},
  ];
  const project = isRead('project', settingSources) && !strictMcpConfig ? readProjectEntries(root) : {claims: []};
  const sources = strictMcpConfig ? typed : [...typed, ...joinFiles(project.source, loaded)];
  const entries = joinEntries(sources, loaded.trust.trusts);
  const wrong = entries.flatMap(({name, from, problem}) =>
    problem === undefined ? [] : [`${from}: mcpServers.${name}: ${problem}; it is not used`],
  );
  return {entries, warnings: project.problem === undefined ? wrong : [project.problem, ...wrong]};
}

/**
 * Returns the sources, the strongest first: the user's for this project, `.mcp.json`, the project's settings, the
 * user's for all projects.
 */
function joinFiles(
  project: EntrySource | undefined,
  {origins, claims, trust, plugins}: McpParts['loaded'],
): EntrySource[] {
  const settings = origins
    .filter(({path}) => path[0] === 'mcpServers' && path.length === 2)
    .map(({path, value, from}) => ({servers: {[path[1]!]: value}, from: from[0]!.file, layer: from[0]!.layer}));
  const isMine = ({layer}: {layer: string}) => layer === 'local' || layer === 'command line';
  // Entries that are not trusted were removed from the settings, but the list shows them to the user.
  const unapproved = claims
    .filter((claim) => claim.key.startsWith('mcpServers.') && !trust.trusts(claim))
    .map(({file, key, value}) => ({from: file, servers: {[getName(key)]: value}, isProjects: true}));
  return [
    ...settings.filter(isMine),
    ...(project ? [project] : []),
    ...settings.filter((each) => !isMine(each)),
    ...plugins.map(({id, servers}) => ({from: `the plugin ${id}`, servers})),
    ...unapproved,
  ];
}

/** Returns the name of the server from a key as messages show it. */
function getName(key: string): string {
  const name = key.slice('mcpServers.'.length);
  return name.startsWith('"') ? (JSON.parse(name) as string) : name;
}
