#include "app/core/program_options.h"

#include <QCoreApplication>

#include <optional>

namespace colibri::app {
namespace {

constexpr int kLeastWidth = 960;
constexpr int kLeastHeight = 640;
constexpr int kMostPixels = 16384;

Status usage(const QString& sentence) {
  return Status(Code::kUsage, "usage", sentence.toStdString());
}

std::optional<QSize> parseSize(const QString& text) {
  const QStringList parts = text.split(QLatin1Char('x'));
  if (parts.size() != 2) return std::nullopt;
  bool widthOk = false;
  bool heightOk = false;
  const QSize size(parts[0].toInt(&widthOk), parts[1].toInt(&heightOk));
  return widthOk && heightOk ? std::optional(size) : std::nullopt;
}

/// Walks the arguments; `values` takes what an option needs or fails with a sentence.
class Reader {
public:
  explicit Reader(const QStringList& arguments) : m_arguments(arguments) {}

  [[nodiscard]] bool atEnd() const { return m_next >= m_arguments.size(); }
  QString take() { return m_arguments.at(m_next++); }

  Result<QString> value(const QString& option, const QString& what) {
    if (atEnd()) return usage(QStringLiteral("%1 needs %2.").arg(option, what));
    return take();
  }

private:
  const QStringList& m_arguments;
  qsizetype m_next = 0;
};

class Parser {
public:
  explicit Parser(const QStringList& arguments)
      : m_reader(arguments), m_askGiven(arguments.contains(QLatin1String("--ask"))) {}

  Result<ProgramOptions> parse() {
    while (!m_reader.atEnd()) {
      const QString argument = m_reader.take();
      COLIBRI_RETURN_IF_ERROR(m_onlyModels || !argument.startsWith(QLatin1Char('-')) ? takeModel(argument)
                                                                                     : takeOption(argument));
    }
    COLIBRI_RETURN_IF_ERROR(check());
    return m_options;
  }

private:
  Status setMode(ProgramMode mode, const QString& option) {
    if (!m_modeOption.isEmpty() && m_options.mode != mode)
      return usage(QStringLiteral("%1 and %2 cannot be used together.").arg(m_modeOption, option));
    m_options.mode = mode;
    m_modeOption = option;
    return Status::ok();
  }

  Status takeModel(const QString& argument) {
    if (!m_options.model.isEmpty())
      return usage(QStringLiteral("Only one model folder can be given: “%1” is one too many.").arg(argument));
    m_options.model = argument;
    return Status::ok();
  }

  Status takeOption(const QString& option) {
    if (option == QLatin1String("--")) {
      m_onlyModels = true;
      return Status::ok();
    }
    if (option == QLatin1String("--help") || option == QLatin1String("-h")) return setMode(ProgramMode::kHelp, option);
    if (option == QLatin1String("--version")) return setMode(ProgramMode::kVersion, option);
    if (option == QLatin1String("--self-test")) return setMode(ProgramMode::kSelfTest, option);
    if (option == QLatin1String("--first-frame")) return setMode(ProgramMode::kFirstFrame, option);
    if (option == QLatin1String("--json")) {
      m_options.json = true;
      return Status::ok();
    }
    if (option == QLatin1String("--demo")) {
      m_options.demo = true;
      return Status::ok();
    }
    if (option == QLatin1String("--ask")) return takeAsk(option);
    if (option == QLatin1String("--screenshot")) return takeScreenshot(option);
    if (option == QLatin1String("--size")) return takeSize(option);
    if (option == QLatin1String("--theme")) return takeTheme(option);
    if (option == QLatin1String("--scale")) return takeScale(option);
    if (option == QLatin1String("--max-tokens")) return takeMaxTokens(option);
    return usage(QStringLiteral("There is no option %1. `colibri --help` lists them.").arg(option));
  }

  Status takeAsk(const QString& option) {
    COLIBRI_RETURN_IF_ERROR(setMode(ProgramMode::kAsk, option));
    COLIBRI_ASSIGN_OR_RETURN(m_options.question, m_reader.value(option, QStringLiteral("the text to ask")));
    if (m_options.question.trimmed().isEmpty()) return usage(QStringLiteral("--ask needs a text that is not empty."));
    return Status::ok();
  }

  /// With --ask only a file follows, else a page and a file.
  Status takeScreenshot(const QString& option) {
    m_pictureWanted = true;
    if (!m_askGiven) {
      COLIBRI_RETURN_IF_ERROR(setMode(ProgramMode::kScreenshot, option));
      COLIBRI_ASSIGN_OR_RETURN(m_options.page, m_reader.value(option, QStringLiteral("a page and a file")));
      if (!pageNames().contains(m_options.page))
        return usage(QStringLiteral("There is no page “%1”. Pages: %2.")
                         .arg(m_options.page, pageNames().join(QLatin1String(", "))));
    }
    COLIBRI_ASSIGN_OR_RETURN(m_options.file, m_reader.value(option, QStringLiteral("a file to write")));
    return Status::ok();
  }

  Status takeSize(const QString& option) {
    COLIBRI_ASSIGN_OR_RETURN(const QString text, m_reader.value(option, QStringLiteral("a size such as 1280x800")));
    const auto size = parseSize(text);
    if (!size) return usage(QStringLiteral("“%1” is not a size. Write it as 1280x800.").arg(text));
    if (size->width() < kLeastWidth || size->height() < kLeastHeight)
      return usage(QStringLiteral("%1 is too small: the window needs at least 960x640.").arg(text));
    m_options.size = *size;
    return Status::ok();
  }

  Status takeTheme(const QString& option) {
    COLIBRI_ASSIGN_OR_RETURN(m_options.theme, m_reader.value(option, QStringLiteral("light or dark")));
    if (m_options.theme != QLatin1String("light") && m_options.theme != QLatin1String("dark"))
      return usage(QStringLiteral("There is no theme “%1”. Themes: light, dark.").arg(m_options.theme));
    return Status::ok();
  }

  Status takeScale(const QString& option) {
    COLIBRI_ASSIGN_OR_RETURN(const QString text, m_reader.value(option, QStringLiteral("a factor such as 2")));
    bool isNumber = false;
    m_options.scale = text.toDouble(&isNumber);
    if (!isNumber || !(m_options.scale >= 0.5 && m_options.scale <= 4))
      return usage(QStringLiteral("“%1” is not a scale. It is a factor from 0.5 to 4.").arg(text));
    return Status::ok();
  }

  Status takeMaxTokens(const QString& option) {
    m_maxTokensGiven = true;
    COLIBRI_ASSIGN_OR_RETURN(const QString text, m_reader.value(option, QStringLiteral("a number of tokens")));
    bool isNumber = false;
    m_options.maxTokens = text.toLongLong(&isNumber);
    if (!isNumber || m_options.maxTokens < 1)
      return usage(QStringLiteral("“%1” is not a number of tokens. It is 1 or more.").arg(text));
    return Status::ok();
  }

  /// Options that would have no effect are refused.
  [[nodiscard]] Status check() const {
    const ProgramMode mode = m_options.mode;
    if (m_maxTokensGiven && mode != ProgramMode::kAsk)
      return usage(QStringLiteral("--max-tokens belongs to --ask; without it the chat page decides."));
    if (m_options.demo && mode != ProgramMode::kScreenshot)
      return usage(QStringLiteral("--demo belongs to --screenshot PAGE FILE."));
    if (m_options.demo && !m_options.model.isEmpty())
      return usage(QStringLiteral("--demo shows fixed data, so no model folder can be given with it."));
    if (mode == ProgramMode::kAsk && !m_options.json)
      return usage(QStringLiteral("--ask prints JSON: add --json. For text in a terminal use `coli run`."));
    if (mode == ProgramMode::kSelfTest && !m_options.json)
      return usage(QStringLiteral("--self-test prints JSON: add --json."));
    if (m_options.json && (mode == ProgramMode::kWindow || mode == ProgramMode::kScreenshot))
      return usage(QStringLiteral("--json belongs to --ask, --self-test and --first-frame."));
    if (m_options.scale != 1 && !m_pictureWanted)
      return usage(QStringLiteral("--scale belongs to --screenshot. For a window set QT_SCALE_FACTOR."));
    const QSizeF pixels = QSizeF(m_options.size) * m_options.scale;
    if (pixels.width() > kMostPixels || pixels.height() > kMostPixels)
      return usage(QStringLiteral("The picture would be too large: at most %1 pixels a side.").arg(kMostPixels));
    return Status::ok();
  }

  Reader m_reader;
  ProgramOptions m_options;
  QString m_modeOption;
  bool m_askGiven;
  bool m_pictureWanted = false;
  bool m_maxTokensGiven = false;
  bool m_onlyModels = false;
};

}  // namespace

QStringList pageNames() {
  return {QStringLiteral("chat"), QStringLiteral("models")};
}

Result<ProgramOptions> parseProgramOptions(const QStringList& arguments) {
  return Parser(arguments).parse();
}

QString programHelp() {
  return QStringLiteral(
      "Usage: colibri [MODEL] [options]\n"
      "Chats with DeepSeek V4 and V4.1 models that are larger than memory. MODEL is the folder with config.json.\n\n"
      "  --theme light|dark        start with this theme\n"
      "  --size WxH                size of the window, at least 960x640\n"
      "  --screenshot PAGE FILE    draw a page (chat, models) to a PNG file and exit\n"
      "      --scale F             device pixels a logical pixel, 0.5 to 4\n"
      "      --demo                fill the page with fixed data\n"
      "  --ask TEXT --json         ask on the chat page, print the answer's facts and exit\n"
      "      --max-tokens N        end the answer after N tokens\n"
      "      --screenshot FILE     draw the page with the answer\n"
      "  --self-test --json        load every page and report warnings\n"
      "  --first-frame             print the time to the first frame and exit\n"
      "  --version                 print the version\n"
      "  --help                    print this text\n");
}

QString missingDisplay(const QString& platform, const QString& x11Display, const QString& waylandDisplay) {
  if (!platform.isEmpty() || !x11Display.isEmpty() || !waylandDisplay.isEmpty()) return {};
  return QStringLiteral(
      "colibri: there is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set). "
      "Use `coli run` or `coli chat` in this terminal, or start colibri in a desktop session.");
}

}  // namespace colibri::app
