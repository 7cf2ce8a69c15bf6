/** What a session is asked to be, and the parts that are read from it alone. */
import {isModelConfigured} from '../config/environment.ts';
import {type LoadedSettings, loadSettings, type Settings} from '../config/settings.ts';
import type {Answer, PermissionMode, Question} from '../core/contract/events.ts';
import type {Limits} from '../core/contract/limits.ts';
import type {Trusts} from '../core/contract/trust.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {ModelResolver} from '../models/resolve.ts';
import {createOfflineFetch} from '../offline-model/fetch.ts';

export interface SessionOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `~/.mini-cc`, or what `MINI_CC_HOME` names. */
  readonly home: string;
  /** A person can be asked. Without one, what would be asked is refused. */
  readonly interactive: boolean;
  readonly which:
    | {readonly type: 'new'; readonly id?: string}
    | {readonly type: 'continue'}
    | {readonly type: 'resume'; readonly id: string};
  readonly model?: string;
  readonly offline?: boolean;
  readonly permissionMode?: PermissionMode;
  readonly allowedTools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly appendSystemPrompt?: string;
  readonly addDirs?: readonly string[];
  readonly settingsFile?: string;
  /** `--trust`: what the project's files ask for now counts, and is remembered. */
  readonly trust?: boolean;
  /** Asks the person before there is a session; `withdrawn` when they leave instead. */
  readonly ask?: (question: Question) => Promise<Answer | 'withdrawn'>;
  /** `--agents`: definitions as JSON. */
  readonly agentsJson?: string;
  /** `--agent`: the main agent is this one. */
  readonly agent?: string;
  readonly rawStream?: boolean;
  readonly debug?: boolean;
  /** Instead of what the settings say: runs at work at a time. */
  readonly maxConcurrent?: number;
  /** Instead of what the settings say. 0 = never, so that no timer keeps a program alive that forgets to close. */
  readonly archiveAfterMinutes?: number;
}

export function settingsOf(options: SessionOptions, root: string, trusts: Trusts): LoadedSettings {
  return loadSettings({
    home: options.home,
    cwd: root,
    trusts,
    ...(options.settingsFile === undefined ? {} : {explicit: options.settingsFile}),
  });
}

/** Command line > environment > settings; undefined: the default. */
export function modelNameOf(options: SessionOptions, settings: Settings): string | undefined {
  return options.model ?? (options.env.ANTHROPIC_MODEL || settings.model);
}

export function resolverOf(options: SessionOptions, settings: Settings, redactor: Redactor): ModelResolver {
  return new ModelResolver({
    redactor,
    env: options.env,
    offline: options.offline || !isModelConfigured(options.env),
    offlineFetch: createOfflineFetch(),
    retry: {
      maxAttempts: settings.retry?.maxAttempts ?? 5,
      maxWaitSeconds: settings.retry?.maxWaitSeconds ?? (options.interactive ? 300 : 60),
    },
    idleSeconds: settings.limits?.idleSeconds ?? 120,
    maxOutputTokens: settings.maxOutputTokens ?? 16_384,
  });
}
