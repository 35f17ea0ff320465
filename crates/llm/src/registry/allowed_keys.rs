//! Which keys a model may name that is added over the API. Whoever adds it also says where the key is sent, so they must not
//! choose among all that stands in the environment and on the disk of the players. Models of models.yaml and of commands are
//! written by whoever owns the machine, and may name any key.

use std::path::{Component, Path, PathBuf};

use super::PoolSpec;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedKeys {
    /// Names of environment variables; `*` stands for any letters.
    pub variables: Vec<String>,
    /// The folder that files with keys lie in.
    pub folder: PathBuf,
}

impl AllowedKeys {
    /// How variables are called that hold keys of models and of nothing else.
    pub const VARIABLES: [&str; 3] = ["*_API_KEY", "MODEL_KEY_*", "ENGINE_KEY*"];
    /// Where orchestrators mount secrets.
    pub const FOLDER: &str = "/run/secrets";

    /// Pointers of fields, and why their keys may not be named. What may be a secret is not repeated.
    pub fn problems(&self, pool: &PoolSpec) -> Vec<(String, String)> {
        let mut found = Vec::new();
        if pool.key_env.as_ref().is_some_and(|variable| !self.allows_variable(variable)) {
            let detail = format!(
                "over the API only these variables can be named: {}; whoever runs the server adds others with --model-keys",
                self.variables.join(", ")
            );
            found.push(("/key_env".to_owned(), detail));
        }
        if pool.key_file.as_ref().is_some_and(|path| !self.allows_file(Path::new(path))) {
            let detail = format!(
                "over the API only files below {} can be named; whoever runs the server chooses another folder with \
                 --model-key-files",
                self.folder.display()
            );
            found.push(("/key_file".to_owned(), detail));
        }
        found
    }

    fn allows_variable(&self, variable: &str) -> bool {
        self.variables.iter().any(|allowed| match allowed.split_once('*') {
            None => allowed == variable,
            Some((start, end)) => {
                variable.len() >= start.len() + end.len() && variable.starts_with(start) && variable.ends_with(end)
            }
        })
    }

    /// Links are followed: they are made by whoever owns the folder.
    fn allows_file(&self, path: &Path) -> bool {
        let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
        path.components().all(plain) && path.strip_prefix(&self.folder).is_ok_and(|rest| rest != Path::new(""))
    }
}

impl Default for AllowedKeys {
    fn default() -> Self {
        Self { variables: Self::VARIABLES.map(str::to_owned).into(), folder: Self::FOLDER.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(env: Option<&str>, file: Option<&str>) -> Vec<String> {
        let spec = PoolSpec {
            key_env: env.map(str::to_owned),
            key_file: file.map(str::to_owned),
            ..PoolSpec::new("m", Vec::new())
        };
        AllowedKeys::default().problems(&spec).into_iter().map(|(at, _)| at).collect()
    }

    #[test]
    fn only_keys_of_models_are_named() {
        assert_eq!(refused(None, None), [""; 0]);
        for fine in ["OPENAI_API_KEY", "MODEL_KEY_QWEN", "ENGINE_KEY", "ENGINE_KEY_2"] {
            assert_eq!(refused(Some(fine), None), [""; 0], "{fine}");
        }
        for wrong in ["PATH", "DATABASE_URL", "PGPASSWORD", "AWS_SECRET_ACCESS_KEY", "API_KEY_X", "MODEL_KEY"] {
            assert_eq!(refused(Some(wrong), None), ["/key_env"], "{wrong}");
        }
        for fine in ["/run/secrets/qwen", "/run/secrets/a/b"] {
            assert_eq!(refused(None, Some(fine)), [""; 0], "{fine}");
        }
        for wrong in
            ["/etc/hostname", "/run/secrets", "/run/secrets/", "/run/secrets/../../etc/passwd", "/run/secrets2/key"]
        {
            assert_eq!(refused(None, Some(wrong)), ["/key_file"], "{wrong}");
        }
    }
}
