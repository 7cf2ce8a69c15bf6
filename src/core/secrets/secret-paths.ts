/**
 * Lists the files and folders that contain keys. Confined commands do not see them, and reading them needs a question.
 */
import path from 'node:path';
import {listWords} from '../util/text.ts';

const KEYS = listWords(`
  .ssh .gnupg .aws .config/gcloud .azure .kube .docker .netrc .git-credentials .npmrc .config/gh
  .config/git/credentials .pypirc .password-store .local/share/keyrings .config/hub .cargo/credentials
  .cargo/credentials.toml .gem/credentials .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties
  .nuget/NuGet .composer/auth.json .config/composer/auth.json .yarnrc.yml .claude.json .claude/.credentials.json
  .codex/auth.json .gemini .config/github-copilot .vault-token .pgpass .my.cnf .mylogin.cnf .config/sops .config/age
  .config/op .config/doctl .terraform.d/credentials.tfrc.json .terraformrc .pulumi/credentials.json .fly/config.yml
  .config/heroku .config/containers/auth.json .config/rclone .config/filezilla .s3cfg .boto .kaggle .huggingface
  .cache/huggingface/token .foundry/keystores .electrum .bitcoin .ethereum .config/solana .oci .bash_history
  .zsh_history .python_history .node_repl_history .psql_history .mysql_history .local/share/fish/fish_history
  .rediscli_history .lesshst .viminfo .thunderbird
`);

const BROWSER_PROFILES = listWords(`
  .mozilla .config/google-chrome .config/chromium .config/microsoft-edge .config/BraveSoftware snap/firefox
  snap/chromium .var/app/org.mozilla.firefox
`);

/** @param miniCcHome folder with sessions and settings of mini-cc @returns absolute paths */
export function getSecretPaths(home: string, miniCcHome: string): string[] {
  return [...[...KEYS, ...BROWSER_PROFILES].map((each) => path.resolve(home, each)), path.resolve(miniCcHome)];
}
