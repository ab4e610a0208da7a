#include "scantling/report/metrics_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "scantling/core/error.h"

namespace scantling {
namespace {

class MetricsLogTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("metrics_") + test->name() + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path file() const { return folder_ / "metrics.jsonl"; }
  std::string text() const {
    std::ostringstream out;
    out << std::ifstream(file(), std::ios::binary).rdbuf();
    return out.str();
  }
  void put(const std::string& content) const { std::ofstream(file(), std::ios::binary) << content; }

  std::filesystem::path folder_;
};

TEST_F(MetricsLogTest, RowsAreReadableAsSoonAsWritten) {
  MetricsLog log(file(), 0);
  EXPECT_EQ(text(), "");
  log.append({{"step", 1}, {"loss", 2.5}, {"devices", {{{"rank", 0}, {"peak_bytes", 7}}}}});
  EXPECT_EQ(text(), "{\"step\":1,\"loss\":2.5,\"devices\":[{\"rank\":0,\"peak_bytes\":7}]}\n");
  log.append({{"step", 2}, {"eval_loss", 1}});
  EXPECT_EQ(nlohmann::json::parse(text().substr(text().find('\n')))["step"], 2);
}

TEST_F(MetricsLogTest, LossesReadBackExactly) {
  MetricsLog log(file(), 0);
  const double loss = 1.0 / 3.0;
  log.append({{"step", 1}, {"loss", loss}, {"grad_norm", 1.2345678901234567e-30}});
  const auto row = nlohmann::json::parse(text());
  EXPECT_EQ(row["loss"].get<double>(), loss) << text();
  EXPECT_EQ(row["grad_norm"].get<double>(), 1.2345678901234567e-30) << text();
}

TEST_F(MetricsLogTest, NonFiniteNumbersAreNull) {
  MetricsLog log(file(), 0);
  log.append({{"step", 1}, {"loss", std::numeric_limits<double>::quiet_NaN()}, {"grad_norm", std::numeric_limits<double>::infinity()}});
  EXPECT_EQ(text(), "{\"step\":1,\"loss\":null,\"grad_norm\":null}\n");
}

TEST_F(MetricsLogTest, ResumeReplacesLaterRowsAndDropsAHalfRow) {
  put("{\"step\":1}\n{\"step\":2}\n{\"step\":2,\"eval_loss\":1}\n{\"step\":3}\n{\"ste");
  MetricsLog(file(), 2).append({{"step", 3}, {"loss", 1}});
  EXPECT_EQ(text(), "{\"step\":1}\n{\"step\":2}\n{\"step\":2,\"eval_loss\":1}\n{\"step\":3,\"loss\":1}\n");
}

TEST_F(MetricsLogTest, NewRunStartsAnew) {
  put("{\"step\":1}\nnot json\n");
  MetricsLog log(file(), 0);
  EXPECT_EQ(text(), "");
}

TEST_F(MetricsLogTest, DamagedRowsAreNamedAndKept) {
  for (const std::string bad : {"not json", "{\"loss\":1}", "[1]", "", "{\"step\":\"1\"}"}) {
    put("{\"step\":1}\n" + bad + "\n{\"step\":2}\n");
    try {
      MetricsLog(file(), 1);
      ADD_FAILURE() << "accepted: " << bad;
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
    }
    EXPECT_EQ(text(), "{\"step\":1}\n" + bad + "\n{\"step\":2}\n");
  }
}

TEST_F(MetricsLogTest, JsonFilesAreReplacedWhole) {
  write_json_file(file(), {{"steps", 20}, {"final_loss", 2.25}});
  write_json_file(file(), {{"steps", 21}});
  EXPECT_EQ(text(), "{\n  \"steps\": 21\n}\n");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "a file was left beside";
}

TEST_F(MetricsLogTest, MissingFoldersAreErrors) {
  EXPECT_THROW(write_json_file(folder_ / "absent" / "summary.json", {}), Error);
  EXPECT_THROW(MetricsLog(folder_ / "absent" / "metrics.jsonl", 0), Error);
}

}  // namespace
}  // namespace scantling
