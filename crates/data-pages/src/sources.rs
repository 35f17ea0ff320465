//! The sources that a dataset or an export can be made from, newest first.

use domain::access::Role;
use domain::api::{BuildState, CorpusSummary, ExportSummary, Page, RunSummary};
use leptos::prelude::*;
use leptos_router::components::A;

use super::inputs::Choice;
use super::names::short;
use ui::api_client::Answer;
use ui::session::Project;
use ui::{address, api_client, format};

/// The value of an option, kind and id as in `run ID`, and its label.
pub type SourceOption = (String, String);

/// In place of a cursor, once a list has no more.
const END: &str = "-";

/// One of the sources, or the one that the page's address names, which may be older than those that are listed.
#[component]
pub fn SourceChoice(
    label: &'static str,
    /// Stands in place of a source as long as none is chosen.
    none: &'static str,
    sources: Vec<SourceOption>,
    #[prop(into)] chosen: Signal<String>,
    change: Callback<String>,
) -> impl IntoView {
    let mut options = vec![(String::new(), none.to_owned())];
    options.extend(sources);
    let own = chosen.get_untracked();
    if let Some((kind, id)) = own.split_once(' ').filter(|_| !options.iter().any(|(key, _)| *key == own)) {
        options.push((own.clone(), format!("{kind} {}", short(id))));
    }
    view! { <Choice label options value=chosen change /> }
}

/// Leads from where nothing was played yet to the form of a run.
#[component]
pub fn NothingPlayed(says: &'static str) -> impl IntoView {
    let project = Project::here();
    let start = move || {
        let href = address::project(&project.name(), "/runs/new");
        project.may(Role::Runner).then(|| view! { <A href>"Start a run"</A> })
    };
    view! {
        <p class="muted">
            {says} " " {start}
        </p>
    }
}

/// The corpora that are ready, and the runs of conversations.
pub async fn corpora_and_runs(project: &str, after: Option<String>) -> Answer<Page<SourceOption>> {
    let [of_corpora, of_runs] = cursors(after.as_deref());
    Ok(join([corpora(project, &of_corpora).await?, runs(project, &of_runs).await?]))
}

/// The same, and the exports that are ready.
pub async fn all(project: &str, after: Option<String>) -> Answer<Page<SourceOption>> {
    let [of_corpora, of_runs, of_exports] = cursors(after.as_deref());
    let (corpora, runs) = (corpora(project, &of_corpora).await?, runs(project, &of_runs).await?);
    Ok(join([corpora, runs, exports(project, &of_exports).await?]))
}

async fn corpora(project: &str, cursor: &str) -> Answer<Page<SourceOption>> {
    let page = part(cursor, async |after| api_client::corpora::list(project, after).await).await?;
    Ok(options(page, |corpus| corpus.state == BuildState::Ready, corpus))
}

async fn runs(project: &str, cursor: &str) -> Answer<Page<SourceOption>> {
    let page = part(cursor, async |after| api_client::runs::list(project, after).await).await?;
    Ok(options(page, |_| true, run))
}

async fn exports(project: &str, cursor: &str) -> Answer<Page<SourceOption>> {
    let page = part(cursor, async |after| api_client::exports::list(project, after).await).await?;
    Ok(options(page, |export| export.state == BuildState::Ready, export))
}

/// A list's next page; an empty cursor stands for its beginning.
async fn part<T>(cursor: &str, load: impl AsyncFnOnce(Option<String>) -> Answer<Page<T>>) -> Answer<Page<T>> {
    match cursor {
        END => Ok(Page { items: Vec::new(), next: None }),
        "" => load(None).await,
        after => load(Some(after.to_owned())).await,
    }
}

fn options<T>(page: Page<T>, usable: fn(&T) -> bool, option: fn(T) -> SourceOption) -> Page<SourceOption> {
    Page { items: page.items.into_iter().filter(usable).map(option).collect(), next: page.next }
}

/// The cursor of each of several lists.
fn cursors<const LISTS: usize>(after: Option<&str>) -> [String; LISTS] {
    let mut words = after.unwrap_or_default().split(' ');
    std::array::from_fn(|_| words.next().unwrap_or_default().to_owned())
}

/// The pages of several lists as one, with a cursor of all of them.
fn join<const LISTS: usize>(pages: [Page<SourceOption>; LISTS]) -> Page<SourceOption> {
    let more = pages.iter().any(|page| page.next.is_some());
    let cursors: Vec<_> = pages.iter().map(|page| page.next.as_deref().unwrap_or(END)).collect();
    let next = more.then(|| cursors.join(" "));
    Page { items: pages.into_iter().flat_map(|page| page.items).collect(), next }
}

fn corpus(corpus: CorpusSummary) -> SourceOption {
    let rows = i64::try_from(corpus.train + corpus.golden).unwrap_or(i64::MAX);
    (format!("corpus {}", corpus.id), format!("Corpus {} · {} conversations", corpus.name, format::count(rows)))
}

fn run(run: RunSummary) -> SourceOption {
    let (made, accepted) = (format::time(run.created_at), format::count(run.accepted));
    (format!("run {}", run.id), format!("Run of {} · {made} · {accepted} accepted", run.playbook))
}

fn export(export: ExportSummary) -> SourceOption {
    let rows = export.rows.map(|rows| format!(" · {} records", format::count(rows))).unwrap_or_default();
    (format!("export {}", export.id), format!("Export {}{rows}", export.file_name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(item: &str, next: Option<&str>) -> Page<SourceOption> {
        Page { items: vec![(item.to_owned(), item.to_owned())], next: next.map(str::to_owned) }
    }

    #[test]
    fn lists_of_different_lengths_are_read_to_their_ends() {
        assert_eq!(cursors::<2>(None), ["", ""]);
        let first = join([page("a", Some("a2")), page("b", None)]);
        assert_eq!(first.items.len(), 2);
        assert_eq!(cursors::<2>(first.next.as_deref()), ["a2", END]);
        assert_eq!(join([page("a", None), page("b", None)]).next, None);
    }
}
