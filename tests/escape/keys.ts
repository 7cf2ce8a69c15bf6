/** Files and variables of a user's home that hold keys. Each file contains the canary. */

export const KEY_FILES: readonly string[] = [
  ...[
    '.ssh/id_ed25519',
    '.ssh/id',
    '.ssh/ESCAPED',
    '.aws/credentials',
    '.config/gcloud/creds',
    '.azure/token',
    '.netrc',
    '.npmrc',
  ],
  ...['.git-credentials', '.docker/config.json', '.kube/config', '.gnupg/secring', '.mozilla/key4.db', '.authinfo'],
  ...[
    'own-keys/key',
    'own-file',
    '.claude/.credentials.json',
    '.codex/auth.json',
    '.vault-token',
    '.pgpass',
    '.my.cnf',
  ],
  ...[
    '.m2/settings.xml',
    '.m2/settings-security.xml',
    '.gradle/gradle.properties',
    '.cargo/credentials',
    '.cargo/credentials.toml',
  ],
  ...['.config/sops/age/keys.txt', '.config/google-chrome/Default/Login Data', '.config/chromium/Default/Cookies'],
  ...[
    '.config/BraveSoftware/Brave-Browser/Default/Cookies',
    '.config/vivaldi/Default/Cookies',
    '.thunderbird/x/key4.db',
  ],
  ...['.bash_history', '.zsh_history', '.python_history', '.node_repl_history', '.psql_history', '.mysql_history'],
  ...[
    '.config/gh/hosts.yml',
    '.config/glab-cli/config.yml',
    '.config/hub',
    '.config/rclone/rclone.conf',
    '.s3cfg',
    '.boto',
  ],
  ...[
    '.terraform.d/credentials.tfrc.json',
    '.terraformrc',
    '.config/doctl/config.yaml',
    '.fly/config.yml',
    '.heroku/token',
  ],
  ...[
    '.config/op/config',
    '.password-store/x.gpg',
    '.local/share/keyrings/login.keyring',
    '.config/Bitwarden CLI/data.json',
  ],
  ...[
    '.composer/auth.json',
    '.gem/credentials',
    '.bundle/config',
    '.pypirc',
    '.config/pip/pip.conf',
    '.yarnrc.yml',
    '.bunfig.toml',
  ],
  ...[
    '.nuget/NuGet/NuGet.Config',
    '.config/configstore/firebase-tools.json',
    '.config/gcloud/application_default_credentials.json',
  ],
  ...[
    '.gemini/oauth_creds.json',
    '.config/github-copilot/hosts.json',
    '.cursor/auth.json',
    '.aider.conf.yml',
    '.continue/config.json',
  ],
  ...[
    '.viminfo',
    '.lesshst',
    '.wget-hsts',
    '.config/Slack/Cookies',
    '.config/discord/token',
    '.purple/accounts.xml',
    '.muttrc',
  ],
  ...[
    '.config/filezilla/sitemanager.xml',
    '.ssh.bak/id_rsa',
    'Downloads/key.pem',
    '.electrum/wallets/default',
    '.env',
    '.envrc',
  ],
];

/** Variables whose values are canaries. The last ones do not look like keys by their names. */
export const KEY_VARIABLES: readonly string[] = [
  ...['GITHUB_TOKEN', 'KEY', 'BEARER', 'MY_JWT', 'CREDS', 'SESSION_COOKIE', 'SENTRY_DSN', 'APP_CONNECTION_STRING'],
  ...['SLACK_WEBHOOK_URL', 'PGPASSWORD', 'AWS_SESSION', 'NPM_CONFIG__AUTH', 'HTTPS_PROXY_USER', 'OTHER', 'my_own_name'],
];
