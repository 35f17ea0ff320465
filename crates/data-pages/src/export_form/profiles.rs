//! For which trainer.

use domain::export::Profile;
use leptos::prelude::*;
use strum::VariantArray;

#[component]
pub fn Profiles(profile: Memo<Profile>, choose: Callback<Profile>) -> impl IntoView {
    let one = move |own: Profile| {
        view! {
            <label class="export-profile" class:chosen=move || profile.get() == own>
                <input
                    type="radio"
                    name="profile"
                    value=own.into_str()
                    prop:checked=move || profile.get() == own
                    on:change=move |_| choose.run(own)
                />
                <span>
                    <strong>{title(own)}</strong>
                    <span class="muted hint">{description(own)}</span>
                </span>
            </label>
        }
    };
    view! {
        <fieldset class="panel export-profiles">
            <legend>"Trainer"</legend>
            {Profile::VARIANTS.iter().copied().map(one).collect_view()}
        </fieldset>
    }
}

pub const fn title(profile: Profile) -> &'static str {
    match profile {
        Profile::Huggingface => "Hugging Face",
        Profile::Canonical => "Canonical",
        Profile::Trl => "TRL",
        Profile::Openai => "OpenAI",
        Profile::OpenaiDpo => "OpenAI preference pairs",
        Profile::TrlDpo => "TRL preference pairs",
        Profile::Llamafactory => "LLaMA-Factory",
        Profile::MsSwift => "ms-swift",
        Profile::Verl => "verl",
        Profile::Groups => "Groups with rewards",
        Profile::Verifiers => "verifiers, prime-rl",
        Profile::Art => "ART",
        Profile::TrlKto => "TRL, labelled by rewards",
        Profile::VerlGroups => "verl, with solve rates",
        Profile::JsonStrings => "JSON strings",
    }
}

const fn description(profile: Profile) -> &'static str {
    match profile {
        Profile::Huggingface => "A bundle for the Hub: data, a dataset card that declares the columns, and Croissant.",
        Profile::Canonical => {
            "Everything that Groundstate knows about a row, one JSON object a line; Axolotl reads it as it is."
        }
        Profile::Trl => "Supervised fine-tuning with TRL from 0.27; NeMo, with tools as an array.",
        Profile::Openai => "Supervised fine-tuning at OpenAI and Azure; needs at least ten rows.",
        Profile::OpenaiDpo => {
            "Two answers to the same conversation, the better one marked: OpenAI, Azure, Together, Fireworks."
        }
        Profile::TrlDpo => "Two answers to the same conversation, the better one marked, for TRL's DPOTrainer.",
        Profile::Llamafactory => "ShareGPT's shape, as LLaMA-Factory loads it.",
        Profile::MsSwift => "Messages with calls as ms-swift expects them.",
        Profile::Verl => "Prompts for reinforcement learning, with the expected outcome as ground truth.",
        Profile::Groups => "All samples of a start side by side, each with its reward, for training from rewards.",
        Profile::Verifiers => {
            "All samples of a start with their rewards, a trace each, as verifiers 0.4 and prime-rl read them."
        }
        Profile::Art => "All samples of a start with their rewards, as trajectories of OpenPipe's ART.",
        Profile::TrlKto => {
            "Each turn of the agent, labelled good or bad by the reward of its conversation, for TRL's KTOTrainer."
        }
        Profile::VerlGroups => {
            "A prompt for each start, solved or not, with how often its samples solved it, for reinforcement learning."
        }
        Profile::JsonStrings => "Columns of JSON text, which every version of datasets reads.",
    }
}
