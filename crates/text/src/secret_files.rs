//! The files and directories in which programs keep keys, passwords and tokens.
//!
//! The names are those that the programs' own manuals give, and those in the lists of two scanners for secrets: gitrob
//! (`core/signatures.go`) and truffleHog. Names that projects share on purpose, such as `database.yml` and `settings.py`, are not
//! among them.

use crate::lines::{file_name, has_end, has_start, has_word};

/// Directories of a user's own, left out as a whole.
const DIRECTORIES: &str = "\
.ssh
.gnupg
.aws
.azure
.kube
.minikube
.oci
.aliyun
.bluemix
.ibmcloud
.gcloud
.tccli
.password-store
.mozilla
.thunderbird
.purple
.irssi
.weechat
.znc
.electrum
.bitcoin
.ethereum
.cloudflared
.snowsql
.snowflake
.databricks
.kaggle
.terraform.d
.pki
.putty
.davfs2
.fly
.ngrok2
.cassandra
.vault
.talos
.wireguard
private-keys-v1.d
.config/gcloud
.config/gh
.config/hub
.config/glab-cli
.config/tea
.config/doctl
.config/hcloud
.config/scw
.config/rclone
.config/stripe
.config/openstack
.config/sops
.config/op
.config/argocd
.config/helm/registry
.config/netlify
.config/git/credentials
.config/age
.config/keybase
.config/linode-cli
.config/containers
.config/filezilla
.config/bitwarden cli
.config/google-chrome
.config/chromium
.config/wireguard
.local/share/keyrings
.local/share/kwalletd
.local/share/python_keyring
library/keychains
etc/wireguard
etc/letsencrypt
etc/openvpn
etc/ssl/private
.subversion/auth
.cache/huggingface";

/// Files that have these names only in their directory.
const PLACES: &str = "\
    .docker/config.json .docker/key.json .docker/daemon-key.json gh/hosts.yml glab-cli/config.yml .cargo/credentials \
    .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .gem/credentials .bundle/config \
    .composer/auth.json .nuget/nuget.config .nuget/nuget/nuget.config .vercel/auth.json .netlify/config.json \
    .wrangler/config/default.toml .cf/config.json .rancher/cli2.json .argocd/config .jenkins/secrets \
    .codex/auth.json .dbt/profiles.yml .hex/hex.config .twilio-cli/config.json .pulumi/credentials.json \
    .huggingface/token huggingface/token containers/auth.json age/keys.txt .lein/credentials.clj .sbt/credentials \
    .ivy2/.credentials .jupyter/jupyter_server_config.json .jupyter/jupyter_notebook_config.json .chef/knife.rb \
    group_vars/all/vault.yml";

const NAMES: &str = concat!(
    // the web, mail and files
    ".netrc _netrc .curlrc .wgetrc .htpasswd htpasswd .htdigest .fetchmailrc .msmtprc .esmtprc .getmailrc \
     .offlineimaprc .mbsyncrc .muttrc .authinfo .passwd-s3fs .smbcredentials .smbpasswd smbpasswd .ftpconfig \
     .ftppass sftp-config.json .remote-sync.json sitemanager.xml recentservers.xml filezilla.xml winscp.ini \
     rclone.conf .s3cfg .boto .gitcookies .git-credentials .passwd passwd.txt passwords.txt password.txt \
     passwords.csv logins.json wp-config.php localsettings.php .mailrc ",
    // registries of packages
    ".npmrc .pypirc .dockercfg .dockerconfigjson .terraformrc terraform.rc credentials.tfrc.json \
     keystore.properties key.properties signing.properties .sentryclirc .transifexrc ",
    // databases
    ".pgpass pgpass.conf .my.cnf .mylogin.cnf debian.cnf .mongorc.js robomongo.json .odbc.ini users.acl \
     .dbeaver-data-sources.xml credentials-config.json .databrickscfg .cqlshrc cqlshrc ",
    // clouds and clusters
    "kubeconfig kubeconfig.yaml kubeconfig.yml talosconfig clouds.yaml secure.yaml .openrc openrc.sh \
     application_default_credentials.json access_tokens.json kaggle.json rootkey.csv accesskeys.csv ngrok.yml \
     .ngrok.yml .vultr-cli.yaml .linode-cli terraform.tfstate terraform.tfstate.backup ",
    // keys, tokens and what opens others
    ".vault-token .vault_pass .vault_pass.txt .vault-pass .vault_password .vault-password vault_pass vault_pass.txt \
     vault-password-file .vault_password_file .vault-keys master.key id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk \
     id_ed25519_sk insecure_private_key otr.private_key secret_token.rb secring.gpg credentials .credentials \
     .credentials.json credentials.json credentials.toml credentials.yml credentials.yaml credentials.yml.enc \
     credentials.ini credentials.xml credentials.csv credentials.txt credentials.properties credentials.db \
     client_secret.json client_secrets.json service-account.json service_account.json serviceaccountkey.json \
     gcp-key.json gitlab-secrets.json initial_root_password token.json .token token.txt api_key.txt apikey.txt \
     api_keys.json jenkins_jobs.ini wallet.dat shadow gshadow shadow- gshadow- krb5.keytab ipsec.secrets \
     chap-secrets pap-secrets wpa_supplicant.conf ",
    // what a password was typed into
    ".bash_history .zsh_history .zhistory .sh_history .history fish_history .python_history .node_repl_history \
     .psql_history .mysql_history .sqlite_history .rediscli_history .irb_history .dbshell .mongo_history \
     consolehost_history.txt ",
    // the environment
    ".env .envrc .secrets .secret secrets.txt"
);

/// Endings of keys, and of what holds them.
const KEYS: &str = "\
    pem key p12 pfx pkcs12 p8 jks keystore keytab kdb kdbx psafe3 agilekeychain opvault 1pif 1pux keychain \
    keychain-db keyring kwallet ppk bek tpm fve tfstate ovpn tblk nmconnection gpg pgp age agekey kubeconfig \
    publishsettings cscfg rdp htpasswd credentials secret";

/// What settings are written in. A program with such a name, `secrets.rs`, is no secret.
const SETTINGS: &str = "json toml yml yaml ini properties xml cfg conf";

/// Words in the name of a file that is meant to be shared.
const SHARED: &str = "example sample template dist defaults default schema tmpl tpl";

/// Returns `true` if the file at a path is known to hold secrets, by its name and its directories.
pub fn is_secret(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let is_whole = |at: usize, part: &str, ends: bool| {
        let (before, after) = (&path[..at], &path[at + part.len()..]);
        (before.is_empty() || before.ends_with('/')) && (if ends { after.is_empty() } else { after.starts_with('/') })
    };
    let within = |directory: &str| path.match_indices(directory).any(|(at, _)| is_whole(at, directory, false));
    let at_place = |place: &str| path.ends_with(place) && is_whole(path.len() - place.len(), place, true);
    // Some programs keep a file where others keep a directory.
    let files = DIRECTORIES.lines().filter(|directory| directory.contains('/'));
    if DIRECTORIES.lines().any(within) || PLACES.split(' ').chain(files).any(at_place) {
        return true;
    }
    let name = file_name(&path);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if has_word(KEYS, extension) {
        return true;
    }
    if name.split(['.', '-', '_']).any(|word| has_word(SHARED, word)) {
        return false;
    }
    has_word(NAMES, name)
        || has_word("env tfvars", extension)
        || has_start(name, ".env. .env- .env_")
        || name.contains(".tfstate.")
        || name.ends_with(".tfvars.json")
        || has_end(name, "_rsa _dsa _ecdsa _ed25519")
        || name.starts_with("ssh_host_") && name.ends_with("_key")
        || name.ends_with("-openrc.sh")
        || name.ends_with("_accesskeys.csv")
        || name.starts_with("utc--")
        || is_tunnel(name)
        || extension == "json" && is_account(stem)
        || has_word(SETTINGS, extension) && is_of_secrets(stem)
}

/// The settings of a WireGuard tunnel: `wg0.conf`.
fn is_tunnel(name: &str) -> bool {
    let tunnel = name.strip_prefix("wg").and_then(|rest| rest.strip_suffix(".conf"));
    tunnel.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The names under which consoles hand out the keys of an account.
fn is_account(stem: &str) -> bool {
    has_start(stem, "client_secret bitwarden_export")
        || ["service-account", "service_account", "serviceaccount", "firebase-adminsdk"]
            .iter()
            .any(|part| stem.contains(part))
}

/// `secrets.yml`, `app-secrets.json`, `secrets.prod.yaml`, `secret.yaml`.
fn is_of_secrets(stem: &str) -> bool {
    let mut words = stem.split(['.', '-', '_']);
    let last = words.clone().next_back();
    stem == "secret" || words.next() == Some("secrets") || last == Some("secrets")
}

/// Returns `true` if the text of settings is a Kubernetes secret with values in it. A template has none.
pub fn is_cluster_secret(text: &[u8]) -> bool {
    let lines = || text.split(|byte| matches!(byte, b'\n' | b',' | b'{' | b'}')).map(|line| line.trim_ascii());
    let is = |line: &[u8], key: &str| {
        let line = line.strip_prefix(b"- ").unwrap_or(line).trim_ascii_start();
        let bare: Vec<u8> = line.iter().copied().filter(|byte| !b"\"' ".contains(byte)).collect();
        bare.starts_with(key.as_bytes()).then(|| bare[key.len()..].to_vec())
    };
    lines().any(|line| is(line, "kind:").is_some_and(|kind| kind == b"Secret"))
        && lines().any(|line| is(line, "apiVersion:").is_some())
        && lines().any(|line| is(line, "data:").or_else(|| is(line, "stringData:")).is_some())
        && !text.windows(2).any(|pair| pair == b"{{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_hold_secrets_are_known_by_name_and_place() {
        for path in [
            ".env", ".env.local", "a/.ENV.production", "prod.env", "id_rsa", "home/.ssh/config", "tls/server.pem",
            "tls/server.KEY", "a.p12", ".npmrc", ".pypirc", ".netrc", ".aws/credentials", "infra/terraform.tfstate",
            ".envrc", ".kube/config", ".docker/config.json", "htpasswd", "terraform.tfvars", "env/prod.auto.tfvars",
            "x.tfvars.json", ".config/gh/hosts.yml", "gh/hosts.yml", ".vault_pass", "wg0.conf",
            ".config/gcloud/credentials.db", ".gradle/gradle.properties", "deploy_ed25519", "config/secrets.prod.yaml",
            "app-secrets.json", "my-service-account-key.json", "terraform.tfstate.1690000000.backup", ".bash_history",
            ".config/git/credentials", "x/.m2/settings.xml", ".config/rclone/rclone.conf", "wp-config.php",
            "etc/wireguard/home.conf", ".password-store/mail.gpg", "k8s/secret.yaml", "prod-openrc.sh",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            ".env.example", ".env.local.sample", "example.env", "src/key.rs", "src/secrets.rs", "docs/id_rsa.md",
            "src/env.py", ".docker/nginx.conf", ".docker/Dockerfile", "config.json", "gradle.properties",
            "settings.xml", "secrets.example.yaml", "wp-config-sample.php", "terraform.tfvars.example", "hosts.yml",
            "config", "docs/secrets.md", "src/token.rs", "wgpu.conf", "credentials.md", "secretary.json",
            "secret-santa.yaml", "locales/en/auth.json", "tokens.json", ".config/nvim/init.lua", "example.tfvars",
        ] {
            assert!(!is_secret(path), "{path}");
        }
    }

    #[test]
    fn a_secret_of_a_cluster_is_known_by_its_kind() {
        let yaml = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\nstringData:\n  password: fakevalue0000\n";
        assert!(is_cluster_secret(yaml.as_bytes()));
        assert!(is_cluster_secret(yaml.replace("kind: Secret", "kind: \"Secret\"\r").as_bytes()));
        assert!(is_cluster_secret(br#"{"apiVersion": "v1", "kind": "Secret", "data": {"a": "ZmFrZXZhbHVlMDAwMA=="}}"#));
        for other in [
            yaml.replace("kind: Secret", "kind: SealedSecret"),
            yaml.replace("fakevalue0000", "{{ .Values.password }}"),
            yaml.replace("stringData:\n", "type: Opaque\n"),
        ] {
            assert!(!is_cluster_secret(other.as_bytes()), "{other}");
        }
    }
}
