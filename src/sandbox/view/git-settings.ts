/**
 * Collects the user's settings of git for confined commands in one flat file without includes. No setting in it
 * contains a key or starts a program that works for the user outside.
 */
import {existsSync, statSync} from 'node:fs';
import path from 'node:path';
import {findPasswords, isSecretName} from '../../core/secrets/known-secrets.ts';
import {
  findReadableRepository,
  formatSetting,
  type GitSetting,
  readSettings,
} from '../../core/util/files/git-folder.ts';
import {Glob} from '../../core/util/glob.ts';
import {listWords} from '../../core/util/text.ts';

/** Sections that git itself reads. Others belong to other programs, which may store keys there. */
const SECTIONS = new Set(
  listWords(`
  add advice alias am apply author blame branch checkout clean color column commit committer core diff feature fetch
  filter format gc grep help i18n index init log mailinfo mailmap merge notes pack pretty pull push rebase remote
  rerere revert safe showbranch sparse splitindex stash status submodule tag transfer url user versionsort worktree
`),
);
/** Settings that start programs. Filters stay, because without them git reports unchanged files as changed. */
const PROGRAMS =
  /^core\.(?:fsmonitor|sshcommand|askpass|gitproxy|pager|editor|hookspath|alternaterefscommand)$|^diff\.external$|\.(?:command|textconv|driver|cmd|vcs|proxy|uploadpack|receivepack)$/;
/** Settings that name files that git reads. Relative names are not the user's. */
const FILES = new Set([
  'core.excludesfile',
  'core.attributesfile',
  'mailmap.file',
  'blame.ignorerevsfile',
  'commit.template',
]);
const MAX_INCLUDES = 10;

interface GitSettingsSource {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** The workspace, whose repository decides the conditional includes. Absolute, with links resolved. */
  readonly root: string;
}

interface FlatGitSettings {
  readonly text: string;
  /** Absolute paths of existing files that the settings name, or that git reads by default. */
  readonly files: readonly string[];
  /** Files whose change changes the settings. They need not exist. */
  readonly watched: readonly string[];
}

export function flattenGitSettings({home, env, root}: GitSettingsSource): FlatGitSettings {
  const {GIT_CONFIG_GLOBAL, XDG_CONFIG_HOME} = env;
  const xdg = path.join(XDG_CONFIG_HOME || path.join(home, '.config'), 'git');
  const sources = GIT_CONFIG_GLOBAL ? [GIT_CONFIG_GLOBAL] : [path.join(xdg, 'config'), path.join(home, '.gitconfig')];
  const reader = new Reader(home, root);
  const settings = sources.flatMap((file) => reader.read(file, 0)).filter(isHarmless);
  const named = settings.filter(({key}) => FILES.has(key)).map(({value}) => expandHome(value, home));
  const files = [...named, path.join(xdg, 'ignore'), path.join(xdg, 'attributes')];
  return {
    text: settings.map(formatSetting).join(''),
    files: files.filter((file) => path.isAbsolute(file) && isFile(file)),
    watched: [...reader.files, ...files],
  };
}

class Reader {
  readonly files: string[] = [];

  constructor(
    private readonly home: string,
    private readonly root: string,
  ) {}

  /** Returns the settings of the file and of the files that it includes, in the order in which they count. */
  read(file: string, depth: number): GitSetting[] {
    this.files.push(file);
    if (depth > MAX_INCLUDES) return [];
    return (readSettings(file) ?? []).flatMap((setting) => {
      const {key, value} = setting;
      if (!/^include(?:if)?\..*path$/is.test(key)) return [setting];
      const condition = /^includeif\.(.*)\.path$/s.exec(key)?.[1];
      if (condition !== undefined && !this.#holds(condition, file)) return [];
      return this.read(path.resolve(path.dirname(file), expandHome(value, this.home)), depth + 1);
    });
  }

  /** Whether an include counts in the workspace. Other conditions than `gitdir` do not hold. */
  #holds(condition: string, file: string): boolean {
    const [, pattern] = /^gitdir:(.*)$/s.exec(condition) ?? [];
    const repository = findReadableRepository(this.root);
    if (pattern === undefined || repository === undefined) return false;
    const whole = expandHome(pattern, this.home)
      .replace(/^\.\//, `${path.dirname(file)}/`)
      .replace(/\/$/, '/**');
    // Match paths as git does: `*` and `?` stay within a name, `**` does not.
    const glob = new Glob(path.isAbsolute(whole) ? whole : `**/${whole}`, {openStars: true});
    return glob.matches(repository.folder);
  }
}

function isHarmless({key, value}: GitSetting): boolean {
  const [section = ''] = key.split('.');
  const name = key.slice(key.lastIndexOf('.') + 1);
  if (!SECTIONS.has(section) || PROGRAMS.test(key) || (section === 'alias' && value.startsWith('!'))) return false;
  if (FILES.has(key) && !/^[~/]/.test(value)) return false;
  return !isSecretName(name) && findPasswords(`${key} ${value}`).length === 0;
}

function expandHome(place: string, home: string): string {
  return place.replace(/^~(?=\/|$)/, home);
}

function isFile(place: string): boolean {
  return existsSync(place) && statSync(place).isFile();
}
