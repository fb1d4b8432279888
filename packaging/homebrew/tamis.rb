class Tamis < Formula
  desc "Search code, documents and issues, and get only what is relevant"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]
@ARCHIVES@
  def install
    bin.install "tamis"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/tamis.bash" => "tamis"
    zsh_completion.install "completions/_tamis"
    fish_completion.install "completions/tamis.fish"
    doc.install "README.md", "THIRD-PARTY-LICENSES.txt"
  end

  test do
    (testpath/"docs/oven.md").write "# Oven\n\nHeat the oven to 220 degrees before baking.\n"
    assert_match version.to_s, shell_output("#{bin}/tamis --version")
    assert_match "docs/oven.md", shell_output("#{bin}/tamis search --files 'how hot must the oven be'")
  end
end
